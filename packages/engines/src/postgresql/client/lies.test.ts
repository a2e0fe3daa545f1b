/** Servers that say something else at a login than they were asked for: what they are told, and what operators are. */
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { hostOf, never, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { postgresqlConfig } from "../config.ts";
import { message } from "../rig/scripted.ts";

const okay = message("R", [0, 0, 0, 0]);
const cleartext = message("R", [0, 0, 0, 3]);
const md5 = message("R", [0, 0, 0, 5, 1, 2, 3, 4]);
const scram = message("R", [0, 0, 0, 10, ...text("SCRAM-SHA-256"), 0]);
const final = message("R", [0, 0, 0, 12, ...Buffer.from("v=AAAA")]);
const key = message("K", [0, 0, 0, 1, 0, 0, 0, 2]);
const ready = message("Z", [0x49]);
const setting = message("S", [...text("server_version"), ...text("16")]);
const versions = message("v", [0, 3, 0, 0, 0, 0, 0, 0]);
const refusal = message("E", [0x43, ...text("28P01"), 0]);
const row = message("D", [0, 1, 0, 0, 0, 1, 0x31]);

/** What is answered to the start-up packet, and to each message behind it. */
const logins: readonly (readonly [string, readonly (readonly Uint8Array[])[], string])[] = [
  ["another version than was asked for", [[versions, okay, key, ready]], "GATEWAY_OTHER_VERSION"],
  ["another version behind the login", [[okay, versions, ready]], "GATEWAY_OTHER_VERSION"],
  ["a demand for the password in clear", [[cleartext]], "GATEWAY_CLEARTEXT"],
  ["a demand for Kerberos", [[message("R", [0, 0, 0, 7])]], "GATEWAY_MECHANISM"],
  [
    "a mechanism that nobody knows",
    [[message("R", [0, 0, 0, 10, ...text("PLAIN"), 0])]],
    "GATEWAY_MECHANISM",
  ],
  [
    "channel binding without TLS",
    [[message("R", [0, 0, 0, 10, ...text("SCRAM-SHA-256-PLUS"), 0])]],
    "GATEWAY_MECHANISM",
  ],
  ["a success in the middle of SCRAM", [[scram], [okay, key, ready]], "GATEWAY_UNPROVED"],
  ["a proof before its turn", [[scram], [final]], "GATEWAY_BROKEN"],
  ["another way once SCRAM began", [[scram], [md5]], "GATEWAY_BROKEN"],
  ["SCRAM a second time", [[scram], [scram]], "GATEWAY_BROKEN"],
  ["a weaker way behind the first", [[md5], [cleartext]], "GATEWAY_BROKEN"],
  ["the same demand again", [[md5], [md5]], "GATEWAY_BROKEN"],
  ["a second success", [[okay, okay, key, ready]], "GATEWAY_BROKEN"],
  ["a demand behind the success", [[okay, md5]], "GATEWAY_BROKEN"],
  ["settings before the login", [[setting, okay, key, ready]], "GATEWAY_BROKEN"],
  ["its key before the login", [[key, okay, ready]], "GATEWAY_BROKEN"],
  ["that it is ready, without a login", [[ready]], "GATEWAY_BROKEN"],
  ["that a transaction is open", [[okay, key, message("Z", [0x54])]], "GATEWAY_BROKEN"],
  ["a row before anything was asked", [[okay, key, row, ready]], "GATEWAY_BROKEN"],
  ["a row for the first statement ahead", [[okay, key, ready, row]], "GATEWAY_BROKEN"],
  ["a second ready", [[okay, key, ready, ready]], "GATEWAY_BROKEN"],
  ["a length below its own", [[Uint8Array.of(0x52, 0, 0, 0, 3)]], "GATEWAY_BROKEN"],
  ["a length beyond all bounds", [[Uint8Array.of(0x52, 0x7f, 0xff, 0xff, 0xff)]], "GATEWAY_BROKEN"],
  [
    "settings without end",
    [
      [
        okay,
        ...Array.from({ length: 300 }, (_, at) => message("S", [...text(`a${at}`), ...text("")])),
        key,
        ready,
      ],
    ],
    "GATEWAY_BROKEN",
  ],
  ["texts in another encoding", [[okay, encoding("LATIN1"), key, ready]], "GATEWAY_OTHER_TEXT"],
  ["no to the login", [[md5], [refusal]], "SQLSTATE 28P01"],
  ["nothing more", [[okay]], "GATEWAY_BROKEN"],
];

describe("a login in clear", () => {
  it.each(logins)("that is answered with %s fails", async (_what, answers, detail) => {
    await using server = await serverOf(answers);
    expect(await detailOf(server.port)).toBe(detail);
    expect(server.came().includes("s3cret")).toBe(false);
  });
});

/** What is answered to SSLRequest, in one piece. */
const encryptions: readonly (readonly [string, Uint8Array, string | RegExp])[] = [
  ["no", Uint8Array.of(0x4e), "GATEWAY_NO_TLS"],
  ["an error, as servers before TLS do", message("E", [0]), "GATEWAY_BYTES_IN_CLEAR"],
  ["the word of another request", Uint8Array.of(0x47), "GATEWAY_NO_TLS"],
  [
    "yes and a login that was not encrypted",
    Buffer.concat([Uint8Array.of(0x53), okay, key, ready]),
    "GATEWAY_BYTES_IN_CLEAR",
  ],
  ["yes and one byte", Uint8Array.of(0x53, 0x16), "GATEWAY_BYTES_IN_CLEAR"],
  ["nothing", new Uint8Array(0), "ECONNRESET"],
];

describe("a request for TLS", () => {
  it.each(encryptions)("that is answered with %s is the last", async (_what, answer, detail) => {
    await using server = await serverOf([[answer]]);
    expect(await detailOf(server.port, { tls: { serverName: "db.example" } })).toBe(detail);
    expect(server.came().length).toBe(8);
  });

  it("that is granted and gone on with in clear shows nobody's name", async () => {
    await using server = await serverOf([[Uint8Array.of(0x53)], [okay, key, ready]]);
    const detail = await detailOf(server.port, { tls: { serverName: "db.example" } });
    expect(detail).toMatch(/^[A-Z][A-Z0-9_]+$/);
    // Behind the request stands TLS's own greeting.
    expect(server.came()[8]).toBe(0x16);
    expect(server.came().includes("ann")).toBe(false);
  });
});

function text(of: string): Uint8Array {
  return Buffer.from(`${of}\0`);
}

function encoding(name: string): Uint8Array {
  return message("S", [...text("client_encoding"), ...text(name)]);
}

interface Lying extends AsyncDisposable {
  readonly port: number;
  /** All that clients sent. */
  readonly came: () => Buffer;
}

/** Answers what comes first with the first list, and so on; behind the last it closes. */
async function serverOf(answers: readonly (readonly Uint8Array[])[]): Promise<Lying> {
  const came: Buffer[] = [];
  const server = createServer((socket) => {
    let turn = 0;
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes: Buffer) => {
      came.push(bytes);
      const answer = Buffer.concat(answers[turn] ?? []);
      turn += 1;
      if (turn < answers.length) socket.write(answer);
      else socket.end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    came: () => Buffer.concat(came),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/** Why a statement was not answered: what operators are told. */
async function detailOf(port: number, more: object = {}): Promise<string | undefined> {
  const config = postgresqlConfig.parse({
    engine: "postgresql",
    hosts: [`127.0.0.1:${port}`],
    auth: { type: "basic", username: "ann", password: "s3cret" },
    ...more,
  });
  await using backend = valueOf(await open("c", config, hostOf()));
  const { last } = await ran(backend, "select 1", { signal: never });
  if (last?.kind !== "failed") return undefined;
  expect(last.error.code).toBe("cluster.connectFailed");
  return last.error.detail;
}
