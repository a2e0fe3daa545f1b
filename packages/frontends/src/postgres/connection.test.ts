import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { certificateOf } from "../listener/rig/certificate.ts";
import {
  bindOf,
  fieldsOf,
  gssRequest,
  int32 as int32Of,
  keyOf,
  letters,
  messageOf,
  queryOf,
  RawClient,
  sslRequest,
  startupOf,
  statusOf,
  sync,
  textOf,
  untypedOf,
  type Seen,
} from "./rig/rawClient.ts";
import { column, doneOf, resultOf, served } from "./rig/served.ts";

const answers = { "select 1": resultOf(column("n"), [1n]), insert: [doneOf("INSERT", 2)] };
const folder = mkdtempSync(join(tmpdir(), "gateway-postgres-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("start of a session", () => {
  it("lets a client in at once where nobody asks for a password", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann", database: "memory", application_name: "test" }));
    const greeting = await client.until("Z");
    const statuses = new Map(greeting.filter(({ type }) => type === "S").map(statusOf));
    expect(letters(greeting)).toMatch(/^RS+KZ$/);
    expect(statuses.get("server_version")).toMatch(/^16\./);
    expect(statuses.get("client_encoding")).toBe("UTF8");
    expect(statuses.get("session_authorization")).toBe("ann");
    expect(statuses.get("application_name")).toBe("test");
    expect(statuses.get("is_superuser")).toBe("off");
    expect(greeting.at(-1)?.body.toString()).toBe("I");
    expect(server.door.presented).toEqual([{ kind: "nothing", user: "ann", asked: true }]);

    client.send(queryOf("select 1"));
    await client.until("Z");
    expect(server.door.queries[0]?.session).toMatchObject({
      frontend: "postgresWire",
      catalog: "memory",
      dialect: "postgres",
      clientAddress: "127.0.0.1",
    });
  });

  it("asks for the password where one is wanted, and takes the right one only", async () => {
    await using server = await served({ answers, passwords: { ann: "geheim" } });
    await using right = await RawClient.open(server.port);
    right.send(startupOf({ user: "ann" }));
    expect((await right.next())?.body).toEqual(Buffer.from(int32Of(3)));
    right.send(messageOf("p", textOf("geheim")));
    expect(letters(await right.until("Z"))).toMatch(/^RS+KZ$/);

    await using wrong = await RawClient.open(server.port);
    wrong.send(startupOf({ user: "ann" }), messageOf("p", textOf("falsch")));
    const [, refusal] = await wrong.rest();
    expect(errorOf(refusal)).toMatchObject({ S: "FATAL", C: "28P01" });
    expect(JSON.stringify(errorOf(refusal))).not.toContain("falsch");
  });

  it("asks for no password in clear text on a listener that others can reach", async () => {
    const exposed = { passwords: { ann: "x" }, answers };
    await using closed = await served(exposed, { host: "0.0.0.0" });
    await using client = await RawClient.open(closed.port);
    client.send(startupOf({ user: "ann" }));
    const [refusal] = await client.rest();
    expect(errorOf(refusal)).toMatchObject({ S: "FATAL", C: "28000" });
    expect(closed.door.presented).toEqual([]);

    await using open = await served(exposed, { host: "0.0.0.0", allowCleartext: true });
    await using other = await RawClient.open(open.port);
    other.send(startupOf({ user: "ann" }));
    expect((await other.next())?.type).toBe("R");
  });

  it("refuses anything but a password while it waits for one", async () => {
    await using server = await served({ answers, passwords: { ann: "x" } });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }), queryOf("select 1"));
    const [, refusal] = await client.rest();
    expect(errorOf(refusal)).toMatchObject({ S: "FATAL", C: "08P01" });
    expect(server.door.queries).toEqual([]);
  });

  it("speaks 3.2 with a long cancel key and says what it does not know of newer versions", async () => {
    await using server = await served({ answers });
    await using newer = await RawClient.open(server.port);
    newer.send(startupOf({ user: "ann" }, 0x00030002));
    const greeting = await newer.until("Z");
    expect(letters(greeting)).toMatch(/^RS+KZ$/);
    expect(keyOf(greeting).secret.length).toBe(32);

    await using newest = await RawClient.open(server.port);
    newest.send(startupOf({ user: "ann", "_pq_.shiny": "1" }, 0x0003270f));
    const [negotiation] = await newest.until("Z");
    expect(negotiation?.type).toBe("v");
    expect(negotiation?.body).toEqual(
      Buffer.concat([int32Of(0x00030002), int32Of(1), textOf("_pq_.shiny")]),
    );
  });

  it.each([
    ["another major version", startupOf({ user: "ann" }, 0x00020000), "0A000"],
    ["no user", startupOf({ database: "x" }), "28000"],
    ["a broken packet", untypedOf(int32Of(0x00030000), Buffer.from("user")), "08P01"],
    ["a web browser", Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "08P01"],
    ["a length of zero", Buffer.alloc(8), "08P01"],
    ["a packet of 2 GB", Buffer.from("7fffffff00030000", "hex"), "08P01"],
  ])("ends the connection of a client with %s", async (_, bytes, code) => {
    await using server = await served({ answers });
    await using client = await RawClient.open(server.port);
    client.send(bytes);
    const seen = await client.rest();
    expect(letters(seen)).toBe("E");
    expect(errorOf(seen[0])).toMatchObject({ S: "FATAL", C: code });
  });

  it("says nothing to a client that leaves before it began", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.open(server.port);
    client.send(messageOf("X"));
    expect(await client.rest()).toEqual([]);
    await using other = await RawClient.open(server.port);
    other.send(sslRequest);
    expect(await other.byte()).toBe("N");
    other.send(messageOf("X"));
    expect(await other.rest()).toEqual([]);
  });

  it("refuses a database that no engine has, and ends the connection", async () => {
    const engines = { engines: () => [{ catalogs: ["memory"] }] };
    await using server = await served({ answers }, {}, engines);
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann", database: "nowhere" }));
    const seen = await client.rest();
    expect(letters(seen)).toBe("E");
    expect(errorOf(seen[0])).toMatchObject({ S: "FATAL", C: "3D000" });
  });

  it("answers a refusal of the gateway itself with its own SQLSTATE", async () => {
    await using server = await served({ answers });
    server.door.authenticate = async () => ({
      ok: false,
      error: { code: "config.notReady", message: "not yet" },
    });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    expect(errorOf((await client.rest())[0])).toMatchObject({ S: "FATAL", C: "57P03" });
  });

  it("gives nobody more time for the login than the listener's deadline", async () => {
    await using server = await served({ answers, passwords: { ann: "x" } });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    await client.next();
    await server.host.advance(10_001);
    expect(await client.rest()).toEqual([]);
  });
});

describe("encryption", () => {
  it("declines politely where it has no certificate", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.open(server.port);
    client.send(gssRequest);
    expect(await client.byte()).toBe("N");
    client.send(sslRequest);
    expect(await client.byte()).toBe("N");
    client.send(startupOf({ user: "ann" }));
    expect(letters(await client.until("Z"))).toMatch(/^RS+KZ$/);
  });

  it("refuses to be asked twice", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.open(server.port);
    client.send(sslRequest);
    expect(await client.byte()).toBe("N");
    client.send(sslRequest);
    expect(errorOf((await client.rest())[0])).toMatchObject({ S: "FATAL", C: "08P01" });
  });

  it("goes over to TLS when asked, and takes a password there", async () => {
    await using server = await served({ answers, passwords: { ann: "x" } }, withTls());
    await using client = await RawClient.open(server.port);
    client.send(sslRequest);
    expect(await client.byte()).toBe("S");
    await client.secure();
    client.send(startupOf({ user: "ann" }), messageOf("p", textOf("x")));
    expect(letters(await client.until("Z"))).toMatch(/^RRS+KZ$/);
    client.send(queryOf("select 1"));
    expect(letters(await client.until("Z"))).toBe("STDCZ");
  });

  it("takes TLS from the first byte without being asked, from a client that names the protocol", async () => {
    await using server = await served({ answers }, withTls());
    await using client = await RawClient.open(server.port);
    await client.secure({ ALPNProtocols: ["postgresql"] });
    client.send(startupOf({ user: "ann" }));
    expect(letters(await client.until("Z"))).toMatch(/^RS+KZ$/);

    await using silent = await RawClient.open(server.port);
    await silent.secure();
    const [refusal] = await silent.rest();
    expect(errorOf(refusal)).toMatchObject({ S: "FATAL", C: "08P01" });

    await using other = await RawClient.open(server.port);
    await expect(other.secure({ ALPNProtocols: ["http/1.1"] })).rejects.toThrow(
      /alert|closed|reset/i,
    );
  });

  it("refuses bytes that came in clear behind the request for TLS", async () => {
    await using server = await served({ answers }, withTls());
    await using client = await RawClient.open(server.port);
    client.send(sslRequest, startupOf({ user: "mallory" }));
    const seen = await client.rest();
    expect(errorOf(seen[0])).toMatchObject({ S: "FATAL", C: "08P01" });
    expect(server.door.presented).toEqual([]);
  });

  it("asks for no password before TLS where clear text is not allowed", async () => {
    const tls = withTls();
    await using server = await served(
      { answers, passwords: { ann: "x" } },
      { ...tls, host: "0.0.0.0" },
    );
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    expect(errorOf((await client.rest())[0])).toMatchObject({ C: "28000" });
  });
});

describe("broken messages", () => {
  it.each([
    ["an unknown type", messageOf("z"), "08P01"],
    ["a start-up packet in the session", startupOf({ user: "root" }), "08P01"],
    ["a password nobody asked for", messageOf("p", textOf("x")), "08P01"],
    ["a length of 3", Buffer.from("5100000003", "hex"), "08P01"],
    ["a length of 2 GB", Buffer.from("517fffffff", "hex"), "54000"],
    ["a length of -1", Buffer.from("51ffffffff", "hex"), "54000"],
    ["a message over the limit", Buffer.from("5100100001", "hex"), "54000"],
    ["a Query without its end", messageOf("Q", Buffer.from("select 1")), "08P01"],
    ["a Query with something behind it", messageOf("Q", textOf("a"), textOf("b")), "08P01"],
    [
      "a Bind that counts more values than it has",
      messageOf("B", Buffer.from("0000000000ff", "hex")),
      "08P01",
    ],
  ])("ends the connection after %s", async (_, bytes, code) => {
    await using server = await served({ answers }, { maxMessageBytes: 1 << 20 });
    await using client = await RawClient.start(server.port);
    client.send(bytes);
    const seen = await client.rest();
    expect(letters(seen)).toBe("E");
    expect(errorOf(seen[0])).toMatchObject({ S: "FATAL", C: code });
    expect(server.door.queries).toEqual([]);
  });

  it("goes on after text that is not UTF-8, because the frame around it was sound", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(messageOf("Q", Buffer.from([0xff, 0])));
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("EZ");
    expect(errorOf(seen[0])).toMatchObject({ S: "ERROR", C: "22021" });

    client.send(messageOf("P", Buffer.from([0, 0xff, 0, 0, 0])), bindOf(), sync);
    expect(letters(await client.until("Z"))).toBe("EZ");
    client.send(queryOf("select 1"));
    expect(letters(await client.until("Z"))).toBe("STDCZ");
  });

  it("answers a function call as not supported and goes on", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(messageOf("F", Buffer.from("00000001000000000000", "hex")));
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("EZ");
    expect(errorOf(seen[0])).toMatchObject({ C: "0A000" });
  });

  it("ignores what is left of a copy", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(messageOf("d", Buffer.from("x")), messageOf("c"), messageOf("f", textOf("no")));
    client.send(queryOf("select 1"));
    expect(letters(await client.until("Z"))).toBe("STDCZ");
  });

  it("survives any bytes: an answer or a close, and the next client is served", async () => {
    await using server = await served({ answers });
    const anyBytes = fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.boolean(),
      async (bytes, inside) => {
        await using client = inside
          ? await RawClient.start(server.port)
          : await RawClient.open(server.port);
        client.send(bytes, Buffer.alloc(300, 0xff));
        // What still waits for the rest of a message never gets it.
        client.finish();
        for (const message of await client.rest())
          expect("ESZTDCtRKnINvA123".includes(message.type)).toBe(true);
      },
    );
    await fc.assert(anyBytes, { numRuns: 60 });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("select 1"));
    expect(letters(await client.until("Z"))).toBe("STDCZ");
  });
});

function errorOf(message: Seen | undefined): Readonly<Record<string, string>> {
  expect(message?.type).toBe("E");
  return message === undefined ? {} : fieldsOf(message);
}

function withTls() {
  const { cert, key } = certificateOf("localhost");
  const certFile = join(folder, "cert.pem");
  const keyFile = join(folder, "key.pem");
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return { tls: { certFile, keyFile, minVersion: "1.2" } } as const;
}
