/** Clients that do not read, read slowly, close one half, or never say who they are. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import type { ResultStream } from "@gateway/core/query/event.ts";
import type { Query } from "@gateway/core/query/query.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { handshakeMsMax } from "../listener/limits.ts";
import { endless, waitForAbort } from "../rig/answers.ts";
import { closeOf, ended, heldBytes, runs } from "../rig/wait.ts";
import { resultOf, serverOf } from "./rig/mysql.ts";
import { ascii, flags, RawClient } from "./rig/raw.ts";

const columns = [columnOf("a", { kind: "text" } as const)];
const batchBytes = 1 << 20;
/** Digits that do not get smaller. */
const noise = randomBytes(batchBytes / 2).toString("latin1");
const batch = batchOf(columns, [[noise]]);
/** More than the system's buffers of a connection hold, and a fraction of what the engine has. */
const megabytesMax = 64;

/** A result of ten gigabytes; counts the batches that were asked for. */
function flood() {
  const asked = { batches: 0 };
  const answer = async function* (_query: Query, signal: AbortSignal): ResultStream {
    yield { kind: "columns", columns };
    while (asked.batches < 10_000 && !signal.aborted) {
      asked.batches += 1;
      yield { kind: "batch", batch };
      await new Promise((resolve) => setImmediate(resolve));
    }
    yield* waitForAbort(_query, signal);
  };
  return { asked, answer };
}

/** Until nothing more is asked of the engine for many turns of the event loop. */
async function still(asked: { readonly batches: number }): Promise<void> {
  for (let quiet = 0, before = -1; quiet < 2000; quiet += 1) {
    if (asked.batches !== before) quiet = 0;
    before = asked.batches;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("a client that does not read", () => {
  it.each([
    ["its result", flags],
    ["its compressed result", flags | capability.compress],
  ])("slows the engine that makes %s, and leaves when it likes", async (_what, agreed) => {
    const { asked, answer } = flood();
    await using server = await serverOf({ answers: { flood: answer } });
    using client = await RawClient.login(server, agreed);
    client.socket.pause();
    const before = heldBytes();
    client.socket.write(framed(ascii("\u0003flood"), agreed !== flags));
    await runs(server.door, "flood");
    await still(asked);
    expect(asked.batches).toBeLessThan(megabytesMax);
    expect(heldBytes() - before).toBeLessThan(megabytesMax * 1e6);
    client.socket.destroy();
    await ended(server.door, "flood");
    expect(server.bugs()).toEqual([]);
  });

  it("is told nothing of its cursor's other rows either", async () => {
    const { asked, answer } = flood();
    await using server = await serverOf({
      answers: { flood: answer },
      descriptions: { flood: { parameters: [], columns } },
    });
    using client = await RawClient.login(server);
    client.send(ascii("\u0016flood"), "17010000000101000000", "1c010000000f270000");
    await client.answers(2 + 3);
    client.socket.pause();
    await still(asked);
    expect(asked.batches).toBeLessThan(megabytesMax);
    client.socket.destroy();
    await ended(server.door, "flood");
  });

  it("can be killed by its owner", async () => {
    const { asked, answer } = flood();
    await using server = await serverOf({ answers: { flood: answer } });
    using client = await RawClient.login(server);
    client.send(ascii("\u0003select connection_id()"));
    const [, , row = ""] = await client.answers(4);
    const id = Buffer.from(row, "hex").subarray(1).toString();
    client.socket.pause();
    client.send(ascii("\u0003flood"));
    await runs(server.door, "flood");
    await still(asked);
    using other = await RawClient.login(server);
    other.send(ascii(`\u0003kill ${id}`));
    expect(await other.answer()).toMatch(/^00/);
    client.socket.resume();
    await client.closed;
    await ended(server.door, "flood");
  });
});

describe("a client that closes one half", () => {
  it("ends its query: nobody says another word there", async () => {
    await using server = await serverOf({ answers: { wait: waitForAbort, endless } });
    for (const sql of ["wait", "endless"]) {
      using client = await RawClient.login(server);
      client.socket.write(framed(ascii(`\u0003${sql}`), false));
      await runs(server.door, sql);
      client.socket.end();
      await ended(server.door, sql);
    }
    expect(server.bugs()).toEqual([]);
  });

  it("gets no answer and holds nothing when it does so before the login", async () => {
    await using server = await serverOf();
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "data");
    socket.resume();
    socket.end();
    await server.host.advance(handshakeMsMax);
    await closeOf(socket);
    expect(server.bugs()).toEqual([]);
  });
});

describe("a client that says nothing", () => {
  it("is cut off after the time for a login, also in the middle of a packet", async () => {
    await using server = await serverOf();
    for (const bytes of ["", "20", "200000", "2000000185a2"]) {
      const socket = connect(server.port, "127.0.0.1");
      await once(socket, "data");
      if (bytes !== "") socket.write(Buffer.from(bytes, "hex"));
      socket.resume();
      await server.host.advance(handshakeMsMax);
      await closeOf(socket);
    }
    expect(server.bugs()).toEqual([]);
  });

  it("may stay as long as it likes once it is known", async () => {
    await using server = await serverOf({ answers: { "select 1": resultOf(columns, [["x"]]) } });
    using client = await RawClient.login(server);
    await server.host.advance(handshakeMsMax * 3);
    client.send(ascii("\u0003select 1"));
    expect(await client.answers(4)).toHaveLength(4);
  });
});

/** A command packet, in a frame of its own where the connection is compressed. */
function framed(hex: string, compressed: boolean): Buffer {
  const length = hex.length / 2;
  const packet = Buffer.concat([Buffer.of(length, 0, 0, 0), Buffer.from(hex, "hex")]);
  if (!compressed) return packet;
  return Buffer.concat([Buffer.of(packet.length, 0, 0, 0, 0, 0, 0), packet]);
}
