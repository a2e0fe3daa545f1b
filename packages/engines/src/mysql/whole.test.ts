/** A result that is there at once is told as one that is read packet by packet. */
import type { Backend } from "@gateway/core/port/backend.ts";
import { answerOf, eventsOf, type Answer } from "@gateway/core/query/course.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { Home } from "@gateway/core/query/home.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig } from "./config.ts";
import { columnOf, eofOf, errorOf, okOf, ScriptedMysql, status } from "./rig/scripted.ts";

const [n, m] = [columnOf("n"), columnOf("m")];
const [row, nulls] = [Uint8Array.of(1, 0x37, 1, 0x38), Uint8Array.of(0xfb, 0xfb)];
const columns = [Uint8Array.of(2), n, m, eofOf()];
const more = eofOf(status.autocommit | status.more);

describe("a result that is there at once", () => {
  it.each([
    ["rows", 1, [...columns, row, nulls, eofOf(status.autocommit)]],
    ["no rows", 1, [...columns, eofOf()]],
    ["an open transaction behind it", 1, [...columns, row, eofOf(status.transaction)]],
    ["an error", 0, [errorOf(1064, "42000")]],
    ["an error behind a row", 0, [...columns, row, errorOf(1317, "70100")]],
    ["no result", 0, [okOf({})]],
    ["two results", 0, [...columns, row, more, ...columns, row, eofOf()]],
    ["a second result without rows", 0, [...columns, row, more, okOf({})]],
  ] as const)("with %s is told as one in packets", async (_what, wholes, payloads) => {
    const whole = await told(payloads, true);
    const { events } = await told(payloads, false);
    expect(whole.events).toEqual(events);
    expect(whole.wholes).toBe(wholes);
    // So is one whose statement was sent at once.
    expect(await told(payloads, "at once")).toEqual(whole);
  });

  it("is left to the reader of packets where it lies", async () => {
    const packets = packetsOf([...columns, row, eofOf()]);
    for (let at = 0; at < packets.length; at += 3) {
      const raw = packets.slice();
      raw[at] = (raw[at] ?? 0) ^ 0x81;
      const [whole, read] = [await told(raw, true), await told(raw, false)];
      expect(whole.events).toEqual(read.events);
      expect((await told(raw, "at once")).events).toEqual(read.events);
    }
  });
});

async function told(answer: readonly Uint8Array[] | Uint8Array, how: boolean | "at once") {
  await using server = await ScriptedMysql.start(({ code, tagged, text }) => {
    if (code !== commandCode.query || !tagged || text.includes("select 1")) return undefined;
    return answer instanceof Uint8Array ? { raw: answer, close: true } : answer;
  });
  await using backend = await backendAt(server.port);
  await using home = new Home();
  const course = courseIn(backend);
  if (how !== "at once")
    return shown(
      await eventsIn(await answerOf(course(queryOf("select n, m from t", home), never, how))),
    );
  await eventsIn(await answerOf(course(queryOf("select 1", home), never, true)));
  const sent = backend.ask?.(queryOf("select n, m from t", home), never);
  if (sent === undefined) throw new Error("it was not sent");
  // The connection is its own until its answer is taken.
  expect(backend.ask?.(queryOf("select 1", home), never)).toBeUndefined();
  await new Promise<void>((came) => sent.wait({ came }));
  const whole = sent.whole();
  const left = whole === undefined ? await answerOf(sent.course()) : eventsOf(whole);
  return shown(await eventsIn(left));
}

describe("a statement that is not sent at once", () => {
  it.each([
    ["USE d"],
    ["SET time_zone = '+01:00'"],
    ["SELECT get_lock('a', 1)"],
    ["LOCK TABLES t READ"],
    ["SELECT SQL_CALC_FOUND_ROWS n FROM t LIMIT 1"],
  ])("is one with something to do besides: %s", async (text) => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendAt(server.port);
    await using home = new Home();
    await eventsIn(await answerOf(courseIn(backend)(queryOf("select 1", home), never, true)));
    const before = server.seen.length;
    expect(backend.ask?.(queryOf(text, home), never)).toBeUndefined();
    expect(server.seen).toHaveLength(before);
    // Its connection is at rest again.
    expect(backend.ask?.(queryOf("select 1", home), never)).toBeDefined();
  });

  it.each([
    ["another database", { schema: "shop" }],
    ["a variable", { settings: new Map([["lock_wait_timeout", "5"]]) }],
    ["another zone", { settings: new Map([["timezone", "UTC"]]) }],
  ])("is one of a session with %s than its connection has", async (_what, own) => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendAt(server.port);
    await using home = new Home();
    const course = courseIn(backend);
    // The same session each time, as that of a client is.
    const { session } = queryOf("select 1", home);
    const [first, other] = [session, { ...session, ...own }];
    const asked = (of: typeof session) =>
      backend.ask?.({ ...queryOf("select 1", home), session: of }, never);
    const run = async (of: typeof session) =>
      eventsIn(await answerOf(course({ ...queryOf("select 1", home), session: of }, never, true)));
    await run(first);
    await eventsIn(await answerOf(valueIn(asked(first)).course()));
    expect(asked(other)).toBeUndefined();
    await run(other);
    expect(asked(first)).toBeUndefined();
    expect(asked(other)).toBeDefined();
  });
});

function valueIn<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("it was not sent");
  return value;
}

async function backendAt(port: number): Promise<Backend> {
  const auth = { type: "basic", username: "ann", password: "none" } as const;
  const config = mysqlConfig.parse({ engine: "mysql", hosts: [`127.0.0.1:${port}`], auth });
  return valueOf(await open("c", config, hostOf()));
}

function courseIn(backend: Backend): NonNullable<Backend["course"]> {
  if (backend.course === undefined) throw new Error("the engine has courses");
  return backend.course.bind(backend);
}

function queryOf(text: string, home: Home): Identified {
  const own = { frontend: "mysqlWire", dialect: "mysql" } as const;
  const mysql = { home, foundRows: false, ignoreSpace: false };
  return { ...identifiedOf(text, [], own), mysql, takes: ["mysqlRows"] };
}

async function eventsIn(answer: Answer): Promise<readonly ResultEvent[]> {
  const events: ResultEvent[] = [];
  for await (const event of answer as AsyncIterable<ResultEvent>) events.push(event);
  return events;
}

function shown(said: readonly ResultEvent[]) {
  const events: object[] = [];
  let wholes = 0;
  let rows = "";
  for (const event of said) {
    // How many pieces rows come in is the network's to say.
    if (event.kind === "batch" && event.batch.form === "native" && event.batch.rows > 0)
      rows += hexOf(event.batch.bytes);
    else if (event.kind === "done") {
      const { stats, whole: came, ...rest } = event;
      if (came !== undefined) wholes += 1;
      events.push({ ...rest, stats: { ...stats, executionMs: 0 }, rows });
    } else if (event.kind === "columns") {
      events.push({ ...event, native: { ...event.native, bytes: hexOf(event.native?.bytes) } });
    } else events.push(event);
  }
  return { events, wholes };
}

function hexOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "" : Buffer.from(bytes).toString("hex");
}

function packetsOf(payloads: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    payloads.flatMap((payload, at) => [Uint8Array.of(payload.length, 0, 0, at + 1), payload]),
  );
}
