import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newVerifier } from "@gateway/access/client/static/scram.ts";
import { staticAuthenticator } from "@gateway/access/client/static/static.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { hashSync } from "bcryptjs";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { certificateOf } from "../../listener/rig/certificate.ts";
import {
  fieldsOf,
  int32,
  letters,
  messageOf,
  RawClient,
  sslRequest,
  startupOf,
  textOf,
  type Seen,
} from "../rig/rawClient.ts";
import { column, resultOf, served } from "../rig/served.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-login-"));
afterAll(() => rmSync(folder, { recursive: true }));

const answers = { "select 1": resultOf(column("n"), [1n]) };
const authority = certificateOf("authority");

describe("SCRAM-SHA-256", () => {
  it("lets in who knows the password, which never travels, bound to the channel where there is TLS", async () => {
    await using server = await guarded();
    for (const [ssl, enableChannelBinding] of [
      [false, false],
      [true, false],
      [true, true],
    ] as const) {
      const client = clientOf(server.port, { password: "pencil", ssl, enableChannelBinding });
      await client.connect();
      const { rows } = await client.query("select 1");
      expect(rows).toEqual([{ n: 1 }]);
      await client.end();
    }
    expect(server.door.queries[0]?.session).toMatchObject({
      identity: { user: "ann", method: "static" },
      credential: { kind: "none" },
    });
  });

  it("refuses a wrong password and an unknown user alike", async () => {
    await using server = await guarded();
    const refusals = await Promise.all(
      ["ann", "nobody"].map(async (user) => {
        const client = clientOf(server.port, { user, password: "wrong" });
        const error: unknown = await client.connect().catch((refusal: unknown) => refusal);
        return { code: codeOf(error), text: String(error).replace(user, "USER") };
      }),
    );
    expect(refusals[0]).toEqual(refusals[1]);
    expect(refusals[0]?.code).toBe("28P01");
  });

  it("challenges a name of nobody as it does a user, always with the same salt", async () => {
    await using server = await guarded();
    const challenges = await Promise.all(
      ["ann", "nobody", "nobody"].map((user) => challenge(server.port, user)),
    );
    for (const { r, i, s } of challenges) {
      expect(r).toMatch(/^rOprNGfwEbeRWgbNEkqO.{24}$/);
      expect([i, Buffer.from(s, "base64").length]).toEqual(["4096", 16]);
    }
    expect(challenges[1]?.s).toBe(challenges[2]?.s);
    expect(challenges[1]?.s).not.toBe(challenges[0]?.s);
    expect(challenges[1]?.r).not.toBe(challenges[2]?.r);
  });

  it.each([
    ["a mechanism that was not offered", saslOf("SCRAM-SHA-1", firstOf("n,,"))],
    [
      "channel binding without TLS",
      saslOf("SCRAM-SHA-256-PLUS", firstOf("p=tls-server-end-point,,")),
    ],
    ["an identity to act as", saslOf("SCRAM-SHA-256", firstOf("n,a=root,"))],
    ["a nonce with a comma", saslOf("SCRAM-SHA-256", "n,,n=,r=")],
    ["a password in its place", messageOf("p", textOf("pencil"))],
  ])("refuses %s", async (_what, message) => {
    await using server = await guarded();
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }), message);
    const seen = await client.rest();
    expect(letters(seen)).toBe("RE");
    expect(fieldsOf(seen[1] as Seen)).toMatchObject({ S: "FATAL", C: "08P01" });
  });

  it("refuses a client that was told by somebody in between that there is no channel binding", async () => {
    await using server = await guarded();
    await using client = await RawClient.open(server.port);
    client.send(sslRequest);
    await client.byte();
    await client.secure();
    client.send(startupOf({ user: "ann" }), saslOf("SCRAM-SHA-256", firstOf("y,,")));
    const seen = await client.rest();
    expect(fieldsOf(seen.at(-1) as Seen)).toMatchObject({ S: "FATAL", C: "28000" });
  });

  it("asks a user without a verifier for the password", async () => {
    await using server = await guarded();
    const client = clientOf(server.port, { user: "bob", password: "eraser" });
    await client.connect();
    await client.end();
    expect(server.door.queries).toEqual([]);
  });
});

describe("client certificates", () => {
  it("let in the user they name and nobody else", async () => {
    const tls = { clientCaFile: fileOf("ca.pem", authority.cert), clientCertUser: "cn" } as const;
    await using server = await guarded(tls);
    const { cert, key } = certificateOf("bob", authority);
    const ssl = { rejectUnauthorized: false, cert, key };
    const bob = clientOf(server.port, { user: "bob", ssl });
    await bob.connect();
    expect((await bob.query("select 1")).rows).toEqual([{ n: 1 }]);
    await bob.end();
    expect(server.door.queries[0]?.session).toMatchObject({
      identity: { user: "bob", method: "static" },
      credential: { kind: "none" },
    });

    const ann = clientOf(server.port, { user: "ann", password: "pencil", ssl });
    expect(codeOf(await ann.connect().catch((error: unknown) => error))).toBe("28000");
    const foreign = certificateOf("mallory", authority);
    const mallory = clientOf(server.port, { user: "mallory", ssl: { ...ssl, ...foreign } });
    expect(codeOf(await mallory.connect().catch((error: unknown) => error))).toBe("28000");
  });

  it("name nobody unless the listener says so", async () => {
    await using server = await guarded({ clientCaFile: fileOf("ca.pem", authority.cert) });
    const { cert, key } = certificateOf("bob", authority);
    const ssl = { rejectUnauthorized: false, cert, key };
    const wrong = clientOf(server.port, { user: "bob", password: "wrong", ssl });
    expect(codeOf(await wrong.connect().catch((error: unknown) => error))).toBe("28P01");
  });
});

/** A listener before the real provider of static users: ann with a verifier, bob without. */
async function guarded(tls: object = {}) {
  const verifier = await newVerifier("pencil");
  if (!verifier.ok) throw new Error("no verifier");
  const none = { groups: [], roles: [] };
  // Enough users with a verifier that a name of nobody is most likely asked for a proof.
  const proving = { passwordHash: hashSync("pencil", 4), scramVerifier: verifier.value, ...none };
  const more = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`user${n}`, proving]));
  const bob = { passwordHash: hashSync("eraser", 4), ...none };
  const users = { ...more, ann: proving, bob };
  const host = { ...virtualHost(1), threads: inPlace() };
  const authenticator = staticAuthenticator({ required: true, staticUsers: { users } }, host);
  const certificate = certificateOf("localhost");
  const files = {
    certFile: fileOf("cert.pem", certificate.cert),
    keyFile: fileOf("key.pem", certificate.key),
    minVersion: "1.2" as const,
  };
  return await served(
    { answers },
    { tls: { ...files, ...tls } },
    {
      asksPassword: true,
      scram: (user) => authenticator.scram?.(user),
      authenticate: (presented, at) => authenticator.authenticate(presented, at),
    },
  );
}

/** The hash thread's work, here. */
function inPlace() {
  return {
    start: () => {
      let answer: (message: unknown) => void = () => undefined;
      return {
        post: (message: unknown) => {
          const { id, password } = message as { readonly id: number; readonly password: string };
          answer({ id, match: password === "eraser", hash: "" });
        },
        onMessage: (handle: (message: unknown) => void) => {
          answer = handle;
        },
        onExit: () => undefined,
        ref: () => undefined,
        terminate: () => Promise.resolve(),
      };
    },
  };
}

function fileOf(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

function clientOf(port: number, more: pg.ClientConfig & { enableChannelBinding?: boolean }) {
  const ssl = more.ssl === true ? { rejectUnauthorized: false } : more.ssl;
  const client = new pg.Client({ host: "127.0.0.1", port, user: "ann", ...more, ssl });
  client.on("error", () => undefined);
  return client;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : error;
}

function firstOf(header: string): string {
  return `${header}n=,r=rOprNGfwEbeRWgbNEkqO`;
}

function saslOf(mechanism: string, data: string): Uint8Array {
  const bytes = Buffer.from(data);
  return messageOf("p", textOf(mechanism), int32(bytes.length), bytes);
}

/** The attributes of the server's first message. */
async function challenge(port: number, user: string) {
  await using client = await RawClient.open(port);
  client.send(startupOf({ user }), saslOf("SCRAM-SHA-256", firstOf("n,,")));
  await client.next();
  const seen = await client.next();
  const text = seen?.body.subarray(4).toString() ?? "";
  const [r = "", s = "", i = ""] = text.split(",").map((part) => part.slice(2));
  return { r, s, i };
}
