import { noModes } from "@gateway/core/sql/session/statement.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import type { ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { Query } from "@gateway/core/query/query.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import { capability, serverStatus } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { endless } from "../../rig/answers.ts";
import { ended, runs } from "../../rig/wait.ts";
import { doneOf, resultOf, serverOf, type OpenServer } from "../rig/mysql.ts";
import { ascii, flags, RawClient } from "../rig/raw.ts";

const int8 = { kind: "integer", bits: 8, signed: true } as const;
const columns = [columnOf("a", int8)];
const five = resultOf(
  columns,
  [1n, 2n, 3n, 4n, 5n].map((value) => [value]),
);
const description = { parameters: [], columns };
/** COM_STMT_EXECUTE of statement 1 with CURSOR_TYPE_READ_ONLY. */
const openCursor = "17010000000101000000";
const fetchTwo = "1c0100000002000000";

describe("a cursor", () => {
  it("gives the rows that are asked for and says which were the last", async () => {
    await using server = await serverWith(five);
    using client = await prepared(server);
    client.send(openCursor, fetchTwo, fetchTwo, fetchTwo, fetchTwo);
    const [count, , end] = await client.answers(3);
    expect([count, statusOf(end)]).toEqual(["01", serverStatus.cursorExists]);
    const first = await client.answers(3);
    expect([...first.slice(0, 2), statusOf(first[2])]).toEqual(["000001", "000002", exists]);
    const second = await client.answers(3);
    expect([...second.slice(0, 2), statusOf(second[2])]).toEqual(["000003", "000004", exists]);
    const third = await client.answers(2);
    expect([third[0], statusOf(third[1])]).toEqual(["000005", serverStatus.lastRowSent]);
    expect(await client.errno()).toBe(1421);
  });

  it("is told by EOF packets to clients that want them", async () => {
    await using server = await serverWith(five);
    using client = await prepared(server, flags & ~capability.deprecateEof);
    client.send(openCursor, "1c0100000009000000");
    await client.answers(2);
    expect(await client.answer()).toBe("fe00004200");
    await client.answers(5);
    expect(await client.answer()).toBe("fe00008200");
  });

  it("asks the engine for no more than was fetched", async () => {
    await using server = await serverWith(endless);
    using client = await prepared(server);
    client.send(openCursor, fetchTwo);
    await client.answers(6);
    expect(server.door.ended).toEqual([]);
    client.send("1901000000", "0e");
    await client.answer();
    await ended(server.door, "select a");
  });

  it.each([
    ["reset", "1a01000000", 1],
    ["executed again", openCursor, 3],
    ["left behind by a reset of the connection", "1f", 1],
  ])("ends when its statement is %s", async (_how, command, answers) => {
    await using server = await serverWith(endless);
    using client = await prepared(server);
    client.send(openCursor);
    await client.answers(3);
    client.send(command);
    await client.answers(answers);
    await server.door.untilEnded(1);
    expect(server.bugs()).toEqual([]);
  });

  it("ends with its client", async () => {
    await using server = await serverWith(endless);
    using client = await prepared(server);
    client.send(openCursor);
    await client.answers(3);
    client.socket.destroy();
    await ended(server.door, "select a");
    expect(server.bugs()).toEqual([]);
  });

  it("ends when nobody fetches for five minutes, and says so", async () => {
    await using server = await serverWith(endless);
    using client = await prepared(server);
    client.send(openCursor);
    await client.answers(3);
    await server.host.advance(300_000);
    await ended(server.door, "select a");
    client.send(fetchTwo, fetchTwo);
    expect(await client.errno()).toBe(1317);
    expect(await client.errno()).toBe(1421);
  });

  it("is not opened for a statement without rows, nor where the first step fails", async () => {
    const failed = { kind: "failed", error: gatewayError("query.syntax") } as const;
    await using server = await serverWith([doneOf({ updateCount: 3 })]);
    using client = await prepared(server);
    client.send(openCursor, fetchTwo);
    expect(await client.answer()).toMatch(/^0003/);
    expect(await client.errno()).toBe(1421);
    await using other = await serverWith([failed]);
    using second = await prepared(other);
    second.send(openCursor, fetchTwo);
    expect(await second.errno()).toBe(1064);
    expect(await second.errno()).toBe(1421);
  });

  it("tells an error that comes in the middle", async () => {
    const [head, batch] = five;
    if (head === undefined || batch === undefined) throw new Error("no events");
    const failed = { kind: "failed", error: gatewayError("engine.broken") } as const;
    await using server = await serverWith([head, batch, failed]);
    using client = await prepared(server);
    client.send(openCursor, "1c0100000009000000");
    await client.answers(3 + 5);
    expect(await client.errno()).toBe(1296);
  });

  it("gives no more rows than sql_select_limit allows", async () => {
    await using server = await serverWith(five);
    using client = await prepared(server);
    client.send(ascii("\u0003set sql_select_limit = 3"), openCursor, "1c0100000009000000");
    await client.answers(4);
    const rows = await client.answers(4);
    expect(rows.slice(0, 3)).toEqual(["000001", "000002", "000003"]);
    expect(statusOf(rows[3])).toBe(serverStatus.lastRowSent);
  });

  it("keeps its rows while the same transaction runs another statement", async () => {
    let free = true;
    const lane = async function* (events: readonly ResultEvent[]): ResultStream {
      if (!free) throw new Error("two statements of one transaction");
      free = false;
      try {
        yield* events;
      } finally {
        free = true;
      }
    };
    const pin: Pin = { cluster: "c", group: "g", state: "open", end: async () => undefined };
    await using server = await serverOf({
      answers: {
        begin: [{ kind: "session", change: { kind: "pinned", modes: noModes, pin } }, doneOf()],
        "select a": (_query: Query) => lane(five),
        "insert x": () => lane([doneOf({ updateCount: 1 })]),
      },
      descriptions: { "select a": description },
    });
    using client = await prepared(server);
    client.send(ascii("\u0003begin"), openCursor, fetchTwo, ascii("\u0003insert x"));
    await client.answers(1 + 3 + 3 + 1);
    await runs(server.door, "insert x");
    client.send(fetchTwo, fetchTwo);
    const rest = await client.answers(5);
    expect(rest.filter((packet) => packet.startsWith("00"))).toEqual([
      "000003",
      "000004",
      "000005",
    ]);
    expect(server.bugs()).toEqual([]);
  });
});

const exists = serverStatus.cursorExists;

function serverWith(answer: readonly ResultEvent[] | typeof endless): Promise<OpenServer> {
  return serverOf({
    answers: { "select a": answer },
    descriptions: { "select a": description },
  });
}

/** A client whose statement 1 is `select a`. */
async function prepared(server: OpenServer, capabilities = flags): Promise<RawClient> {
  const client = await RawClient.login(server, capabilities);
  client.send(ascii("\u0016select a"));
  const eof = (capabilities & capability.deprecateEof) === 0;
  await client.answers(eof ? 3 : 2);
  return client;
}

/** Cursor flags of the packet that ends rows (its header, two counts, the status). */
function statusOf(packet: string | undefined): number {
  const bytes = Buffer.from(packet ?? "", "hex");
  return bytes.readUInt16LE(3) & (serverStatus.cursorExists | serverStatus.lastRowSent);
}
