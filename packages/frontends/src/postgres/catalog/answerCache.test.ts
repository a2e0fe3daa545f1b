import { describe, expect, it } from "vitest";
import { AnswerCache } from "./answerCache.ts";
import type { MirrorOutcome } from "./link.ts";
import type { MirrorCommand, MirrorSession } from "./message.ts";

const sql = "select relname from pg_class";

describe("cached answers", () => {
  it("are given again to the same statement with the same values of the same user", () => {
    const cache = new AnswerCache();
    const outcome = rowsOf(10);
    cache.put(runOf({ values: ["a", Uint8Array.of(1), null] }), outcome);
    expect(cache.find(runOf({ values: ["a", Uint8Array.of(1), null] }))).toBe(outcome);
    // Another connection of the same user, for a statement that says nothing of connections.
    const session = sessionOf({ process: 2 });
    expect(cache.find(runOf({ values: ["a", Uint8Array.of(1), null], session }))).toBe(outcome);
  });

  it("are given to nobody who might see something else", () => {
    const cache = new AnswerCache();
    cache.put(runOf({ values: ["01"] }), rowsOf(10));
    const others: readonly MirrorCommand[] = [
      runOf({ values: ["02"] }),
      runOf({ values: [null] }),
      runOf({ values: [Uint8Array.of(1)] }),
      runOf({ values: ["01"], formats: [1] }),
      runOf({ values: ["01"], types: [23] }),
      runOf({ values: ["01"], sql: `${sql} ` }),
      ...[
        { user: "bob" },
        { searchPath: '"other"' },
        { shownPath: "other" },
        { timeZone: "Asia/Tokyo" },
        { applicationName: "other" },
      ].map((more) => runOf({ values: ["01"], session: sessionOf(more) })),
      { kind: "describe", sql, types: [], session: sessionOf() },
    ];
    for (const other of others) expect(cache.find(other)).toBeUndefined();
  });

  it.each([
    "select now(), relname from pg_class",
    "select age(relfrozenxid) from pg_class",
    "select current_date from pg_am",
    "select random() from pg_class",
    "select * from pg_stat_activity",
    "select * from pg_locks",
    "select query_to_xml('select 1', true, true, '') from pg_class",
  ])("are not made of what changes by itself: %s", (text) => {
    const cache = new AnswerCache();
    cache.put(runOf({ sql: text }), rowsOf(10));
    cache.put(runOf({ values: [text] }), rowsOf(10));
    expect(cache.bytes).toBe(0);
  });

  it("that tell a connection of itself stay its own", () => {
    const cache = new AnswerCache();
    const asked = "select current_setting($1) from pg_am";
    cache.put(runOf({ sql: asked }), rowsOf(10));
    expect(cache.find(runOf({ sql: asked }))).toBeDefined();
    expect(cache.find(runOf({ sql: asked, session: sessionOf({ process: 2 }) }))).toBeUndefined();
  });

  it("are no refusals, lost requests or results of several megabytes", () => {
    const cache = new AnswerCache();
    cache.put(runOf(), { kind: "lost", code: "timeout" });
    cache.put(runOf(), { id: 1, kind: "refused", error: { sqlState: "42703", message: "no" } });
    cache.put(runOf(), { id: 1, kind: "touched" });
    cache.put(runOf(), rowsOf(3 * 1024 * 1024));
    expect(cache.find(runOf())).toBeUndefined();
    expect(cache.bytes).toBe(0);
  });

  it("make room for newer ones, those used last staying", () => {
    const cache = new AnswerCache();
    const bytesMax = 16 * 1024 * 1024;
    cache.put(runOf({ values: ["first"] }), rowsOf(1024 * 1024));
    for (let index = 0; index < 20; index += 1) {
      cache.put(runOf({ values: [`${index}`] }), rowsOf(1024 * 1024));
      expect(cache.find(runOf({ values: ["first"] }))).toBeDefined();
      expect(cache.bytes).toBeLessThanOrEqual(bytesMax);
    }
    expect(cache.find(runOf({ values: ["0"] }))).toBeUndefined();
    for (let index = 0; index < 600; index += 1) {
      cache.put(runOf({ values: [`${index}`] }), rowsOf(1));
    }
    expect(cache.find(runOf({ values: ["80"] }))).toBeUndefined();
    expect(cache.find(runOf({ values: ["599"] }))).toBeDefined();
  });

  it("are counted once when they are kept twice, and not at all when they are cleared", () => {
    const cache = new AnswerCache();
    cache.put(runOf(), rowsOf(100));
    const { bytes } = cache;
    cache.put(runOf(), rowsOf(100));
    expect(cache.bytes).toBe(bytes);
    cache.clear();
    expect(cache.bytes).toBe(0);
    expect(cache.find(runOf())).toBeUndefined();
  });
});

function sessionOf(more: Partial<MirrorSession> = {}): MirrorSession {
  return {
    user: "ann",
    searchPath: '"main"',
    shownPath: '"$user", public',
    timeZone: "UTC",
    applicationName: "",
    process: 1,
    ...more,
  };
}

type Run = Extract<MirrorCommand, { kind: "run" }>;

function runOf(more: Partial<Run> = {}): Run {
  return { kind: "run", sql, types: [], session: sessionOf(), values: [], formats: [], ...more };
}

function rowsOf(bytes: number): MirrorOutcome {
  const column = { name: "relname", oid: 19, size: 64, modifier: -1 };
  const vector = {
    values: new Uint8Array(bytes),
    offsets: Int32Array.of(0, bytes),
    validity: undefined,
  };
  return { id: 1, kind: "rows", result: { columns: [column], rows: 1, vectors: [vector] } };
}
