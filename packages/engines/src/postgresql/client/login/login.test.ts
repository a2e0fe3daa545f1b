/** Logins over TLS, on a server that checks them (the gateway's own): proved both ways, and never to somebody else. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { Secret } from "@gateway/core/secret.ts";
import { newVerifier } from "@gateway/access/client/static/scram.ts";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  configOf,
  gatewayOf,
  portOf,
  type TestGateway,
} from "../../../../../../test/e2e/gateway.ts";
import { certificateOf } from "../../../../../frontends/src/listener/rig/certificate.ts";
import { codeOf, hostOf, never, ran, valueOf, type Ran } from "../../../rig/backend.ts";
import { open } from "../../adapter.ts";
import { postgresqlConfig } from "../../config.ts";

const authority = certificateOf("authority");
const certificate = certificateOf("localhost", authority);
const folder = mkdtempSync(join(tmpdir(), "gateway-postgresql-"));
const files = ["ca", "cert", "key", "other"].map((name) => join(folder, `${name}.pem`));
const [caFile = "", certFile = "", keyFile = "", otherFile = ""] = files;

let server: TestGateway;
beforeAll(async () => {
  const texts = [authority.cert, certificate.cert, certificate.key, certificateOf("other").cert];
  for (const [index, text] of texts.entries()) writeFileSync(files[index] ?? "", text);
  const proving = await newVerifier("alice-secret");
  if (!proving.ok) throw new Error(proving.error);
  const users = {
    alice: { passwordHash: hashSync("alice-secret", 4), scramVerifier: proving.value },
    bob: { passwordHash: hashSync("bob-secret", 4) },
  };
  const auth = { provider: "static", staticUsers: { users } };
  server = await gatewayOf(configOf({ auth }, { tls: { certFile, keyFile } }));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe("the service account", () => {
  it.each([
    ["by SCRAM, bound to the connection", "alice", "alice-secret"],
    ["by the password itself", "bob", "bob-secret"],
  ])("logs in over TLS %s", async (_how, username, password) => {
    await using backend = await backendOf({ auth: { type: "basic", username, password } });
    expect((await ran(backend, "select 1::int")).rows).toEqual([[1n]]);
  });

  it("shows nothing to a server whose certificate is another's, or has another name", async () => {
    const auth = { type: "basic", username: "bob", password: "bob-secret" };
    for (const tls of [{ caFile: otherFile }, { caFile, serverName: "elsewhere.example" }]) {
      await using backend = await backendOf({ auth, tls });
      expect(codeOf(await ran(backend, "select 1"))).toBe("cluster.connectFailed");
    }
  });

  it("is cancelled over TLS as well", async () => {
    const auth = { type: "basic", username: "alice", password: "alice-secret" };
    await using backend = await backendOf({ auth });
    const endless =
      "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";
    const controller = new AbortController();
    const running = ran(backend, endless, { signal: controller.signal });
    controller.abort();
    expect(codeOf(await running)).toBe("query.cancelled");
  });
});

describe("a caller under passthrough", () => {
  it("is who logged in, on a connection of its own", async () => {
    await using backend = await backendOf({ queryAuth: { type: "passthrough" } });
    expect((await ranAs(backend, "alice", "alice-secret")).rows).toEqual([["alice"]]);
    expect((await ranAs(backend, "bob", "bob-secret")).rows).toEqual([["bob"]]);
    expect(await backend.probe(never)).toBe("healthy");
  });

  it("with a wrong password is refused in the gateway's own words", async () => {
    await using backend = await backendOf({ queryAuth: { type: "passthrough" } });
    const answer = await ranAs(backend, "alice", "wrong-secret");
    expect(codeOf(answer)).toBe("auth.noBackendIdentity");
    expect(JSON.stringify(answer.last)).not.toMatch(/alice|wrong-secret/);
  });

  it("reaches nobody under another identity, or a name that a server would cut", async () => {
    await using backend = await backendOf({ queryAuth: { type: "passthrough" } });
    expect(codeOf(await ran(backend, "select 1"))).toBe("auth.noBackendIdentity");
    expect(codeOf(await ranAs(backend, "a".repeat(64), "x"))).toBe("auth.noBackendIdentity");
    expect(codeOf(await ranAs(backend, "alice", "a\0b"))).toBe("auth.noBackendIdentity");
  });
});

describe("the configuration", () => {
  it.each([
    ["passthrough without TLS", { queryAuth: { type: "passthrough" }, tls: undefined }],
    ["no service account where one is needed", {}],
    [
      "a certificate without its key",
      { auth: { type: "basic", username: "a", password: "b" }, tls: { certFile } },
    ],
    ["a host that is none", { hosts: ["a b"] }],
  ])("is refused with %s", (_what, more) => {
    const config = { engine: "postgresql", hosts: ["localhost"], tls: { caFile }, ...more };
    expect(postgresqlConfig.safeParse(config).success).toBe(false);
  });
});

function ranAs(backend: Backend, user: string, password: string): Promise<Ran> {
  const credential = { kind: "password", user, password: new Secret(password) } as const;
  const backendIdentity = { mode: "passthrough", principal: user, credential } as const;
  const lane = {
    execute: (query: Identified, signal: AbortSignal) =>
      backend.execute({ ...query, backendIdentity }, signal),
  };
  return ran(lane, "select current_user as u");
}

async function backendOf(more: object): Promise<Backend> {
  const config = postgresqlConfig.parse({
    engine: "postgresql",
    hosts: [`localhost:${portOf(server, "postgresWire")}`],
    database: "memory",
    tls: { caFile },
    poolSize: 1,
    ...more,
  });
  return valueOf(await open("c", config, hostOf()));
}
