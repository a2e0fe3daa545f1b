import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { answers } from "../rig/answers.ts";
import { closeOf, rawOf } from "../rig/wait.ts";
import { openFlight, refusalOf, type OpenFlight } from "./rig/open.ts";
import { callHeaders, frame, opening } from "./rig/http2.ts";

const getInfo = "/arrow.flight.protocol.FlightService/GetFlightInfo";
const dataFrame = 0;
const headersFrame = 1;
const endHeaders = 4;

let open: OpenFlight;
beforeEach(async () => {
  open = await openFlight({ answers, passwords: { ann: "a" } });
});
afterEach(async () => {
  const client = await open.client({ user: "ann", password: "a" });
  // Whatever came, the next client is served.
  await client.query("SELECT 1");
  await open.done();
});

describe("bytes that no client of gRPC sends", () => {
  it("are refused before the login when they only announce a message", async () => {
    const head = Buffer.from([0, 0x40, 0, 0, 0]);
    const call = frame(headersFrame, endHeaders, 1, callHeaders(getInfo));
    const said = await answerTo(Buffer.concat([call, frame(dataFrame, 0, 1, head)]), headersFrame);
    expect(said.length).toBeGreaterThan(0);
    expect(open.door.presented).toEqual([{ kind: "nothing", user: undefined, asked: false }]);
  });

  it("are refused when a message comes in very many tiny frames", async () => {
    const shown = { authorization: `Basic ${Buffer.from("ann:a").toString("base64")}` };
    const head = Buffer.alloc(5);
    head.writeUInt32BE(4_000_000, 1);
    const tiny = Array.from({ length: 20_000 }, () => frame(dataFrame, 0, 1, Buffer.of(1)));
    const call = frame(headersFrame, endHeaders, 1, callHeaders(getInfo, shown));
    const said = await answerTo(
      Buffer.concat([call, frame(dataFrame, 0, 1, head), ...tiny]),
      headersFrame,
    );
    expect(said.length).toBeGreaterThan(0);
  });

  it("close the connection when they are no HTTP/2", async () => {
    const socket = await rawOf(open.port);
    socket.end("GET / HTTP/1.1\r\n\r\n");
    await closeOf(socket);
    expect(open.door.presented).toEqual([]);
  });
});

describe("messages that are none", () => {
  it("are refused by their status", async () => {
    const client = await open.client({ user: "ann", password: "a" });
    const nonsense = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    const methods = ["GetFlightInfo", "GetSchema", "DoPut", "DoAction", "DoGet"];
    for (const method of methods) {
      expect(await refusalOf(client.call(method, [nonsense]))).toMatch(/^3 INVALID_ARGUMENT/);
    }
    for (const method of methods) {
      expect(await refusalOf(client.call(method, []))).toMatch(/^(3|5|12) /);
    }
  });
});

/** Sends bytes behind the opening, and waits for the first frame of a type. */
async function answerTo(bytes: Uint8Array, type: number): Promise<Buffer> {
  const socket = await rawOf(open.port);
  let came = Buffer.alloc(0);
  const found = new Promise<Buffer>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      came = Buffer.concat([came, chunk]);
      const payload = payloadOf(came, type);
      if (payload !== undefined) resolve(payload);
    });
  });
  socket.write(Buffer.concat([opening(), bytes]));
  const payload = await found;
  socket.destroy();
  return payload;
}

function payloadOf(bytes: Buffer, type: number): Buffer | undefined {
  for (let at = 0; at + 9 <= bytes.length;) {
    const length = bytes.readUIntBE(at, 3);
    if (at + 9 + length > bytes.length) return undefined;
    if (bytes[at + 3] === type) return bytes.subarray(at + 9, at + 9 + length);
    at += 9 + length;
  }
  return undefined;
}
