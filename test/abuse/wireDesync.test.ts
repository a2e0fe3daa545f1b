/** Attack 7: bytes that leave client and server in different states. Each ends in a typed refusal or a close, and the next client is served. */
import { connect } from "node:net";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

const host = "127.0.0.1";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await gatewayOf(configOf());
});

afterAll(() => gateway[Symbol.asyncDispose]());

afterEach(async () => {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "u" });
  await client.connect();
  const { rows } = await client.query("select 1 as one");
  await client.end();
  if (JSON.stringify(rows) !== '[{"one":1}]') throw new Error("the next client is not served");
});

describe("the PostgreSQL listener", () => {
  it.each([0, 3, 4, 7, 10_001, 2 ** 31 - 1, 2 ** 32 - 1])(
    "refuses a start-up message that claims %d bytes",
    async (length) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32BE(length);
      bytes.writeUInt32BE(196_608, 4);
      expect(await untilClosed("postgresWire", bytes)).toContain("C08P01");
    },
  );

  it.each([
    [0, "C08P01"],
    [3, "C08P01"],
    [2 ** 30, "C54000"],
    [2 ** 31 - 1, "C54000"],
    [2 ** 32 - 1, "C54000"],
  ])("refuses a query that claims %d bytes", async (length, code) => {
    const head = Buffer.from("Q....");
    head.writeUInt32BE(length, 1);
    expect(await untilClosed("postgresWire", startup(), head)).toContain(code);
  });

  it("refuses a second start-up message", async () => {
    expect(await untilClosed("postgresWire", startup(), startup())).toContain("C08P01");
  });

  it("refuses an option without a name", async () => {
    expect(await untilClosed("postgresWire", startup("\0x\0"))).toContain("C08P01");
  });

  it("refuses a second request for TLS", async () => {
    const tls = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
    expect(await untilClosed("postgresWire", tls, tls)).toContain("C08P01");
  });

  it("refuses to bind what was never parsed, and goes on", async () => {
    const bind = message("B", Buffer.alloc(8));
    const end = [message("S"), message("X")];
    const answer = await untilClosed("postgresWire", startup(), bind, ...end);
    expect(answer).toContain("C26000");
    expect(answer.endsWith("Z\0\0\0\u0005I")).toBe(true);
  });

  it("answers a guessed cancel key with nothing", async () => {
    const guess = Buffer.from([0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 1]);
    expect(await untilClosed("postgresWire", guess)).toBe("");
  });
});

describe("the MySQL listener", () => {
  it.each([0, 1, 31])("closes on a login of %d bytes", async (length) => {
    const bytes = Buffer.concat([Buffer.from([length, 0, 0, 1]), Buffer.alloc(length, 255)]);
    expect(await untilClosed("mysqlWire", bytes)).not.toBe("");
  });

  it("closes on a login that claims 16 MB", async () => {
    expect(await untilClosed("mysqlWire", Buffer.from([255, 255, 255, 1, 97]))).not.toBe("");
  });
});

function startup(more = ""): Buffer {
  const body = Buffer.from(`\0\u0003\0\0user\0u\0${more}\0`, "latin1");
  return Buffer.concat([lengthOf(body), body]);
}

function message(kind: string, body = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(kind), lengthOf(body), body]);
}

/** Four bytes that count themselves and the body. */
function lengthOf(body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return length;
}

/** Sends all at once and resolves with what came until the gateway closed; rejects when it never does. */
function untilClosed(kind: string, ...parts: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(portOf(gateway, kind), host);
    let text = "";
    socket.setEncoding("latin1");
    socket.setTimeout(4000, () => {
      socket.destroy();
      reject(new Error(`still open after ${JSON.stringify(text)}`));
    });
    socket.on("data", (part: string) => (text += part));
    socket.once("error", () => resolve(text));
    socket.once("close", () => resolve(text));
    socket.write(Buffer.concat(parts));
  });
}
