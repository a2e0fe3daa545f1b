import { describe, expect, it } from "vitest";
import { KeptAnswers } from "./answers.ts";
import type { Asked, Outcome } from "./link.ts";
import type { MirrorSession } from "./message.ts";

const sql = "select relname from pg_class";

describe("kept answers", () => {
  it("are given again to the same statement with the same values of the same user", () => {
    const kept = new KeptAnswers();
    const outcome = rowsOf(10);
    kept.keep(runOf({ values: ["a", Uint8Array.of(1), null] }), outcome);
    expect(kept.find(runOf({ values: ["a", Uint8Array.of(1), null] }))).toBe(outcome);
    // Another connection of the same user, for a statement that says nothing of connections.
    const session = sessionOf({ process: 2 });
    expect(kept.find(runOf({ values: ["a", Uint8Array.of(1), null], session }))).toBe(outcome);
  });

  it("are given to nobody who might see something else", () => {
    const kept = new KeptAnswers();
    kept.keep(runOf({ values: ["01"] }), rowsOf(10));
    const others: readonly Asked[] = [
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
    for (const other of others) expect(kept.find(other)).toBeUndefined();
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
    const kept = new KeptAnswers();
    kept.keep(runOf({ sql: text }), rowsOf(10));
    kept.keep(runOf({ values: [text] }), rowsOf(10));
    expect(kept.bytes).toBe(0);
  });

  it("that tell a connection of itself stay its own", () => {
    const kept = new KeptAnswers();
    const asked = "select current_setting($1) from pg_am";
    kept.keep(runOf({ sql: asked }), rowsOf(10));
    expect(kept.find(runOf({ sql: asked }))).toBeDefined();
    expect(kept.find(runOf({ sql: asked, session: sessionOf({ process: 2 }) }))).toBeUndefined();
  });

  it("are no refusals, lost requests or results of several megabytes", () => {
    const kept = new KeptAnswers();
    kept.keep(runOf(), { kind: "lost", code: "timeout" });
    kept.keep(runOf(), { id: 1, kind: "refused", error: { sqlState: "42703", message: "no" } });
    kept.keep(runOf(), { id: 1, kind: "touched" });
    kept.keep(runOf(), rowsOf(3 * 1024 * 1024));
    expect(kept.find(runOf())).toBeUndefined();
    expect(kept.bytes).toBe(0);
  });

  it("make room for newer ones, those used last staying", () => {
    const kept = new KeptAnswers();
    const bytesMax = 16 * 1024 * 1024;
    kept.keep(runOf({ values: ["first"] }), rowsOf(1024 * 1024));
    for (let index = 0; index < 20; index += 1) {
      kept.keep(runOf({ values: [`${index}`] }), rowsOf(1024 * 1024));
      expect(kept.find(runOf({ values: ["first"] }))).toBeDefined();
      expect(kept.bytes).toBeLessThanOrEqual(bytesMax);
    }
    expect(kept.find(runOf({ values: ["0"] }))).toBeUndefined();
    for (let index = 0; index < 600; index += 1) {
      kept.keep(runOf({ values: [`${index}`] }), rowsOf(1));
    }
    expect(kept.find(runOf({ values: ["80"] }))).toBeUndefined();
    expect(kept.find(runOf({ values: ["599"] }))).toBeDefined();
  });

  it("are counted once when they are kept twice, and not at all when they are cleared", () => {
    const kept = new KeptAnswers();
    kept.keep(runOf(), rowsOf(100));
    const { bytes } = kept;
    kept.keep(runOf(), rowsOf(100));
    expect(kept.bytes).toBe(bytes);
    kept.clear();
    expect(kept.bytes).toBe(0);
    expect(kept.find(runOf())).toBeUndefined();
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

type Run = Extract<Asked, { kind: "run" }>;

function runOf(more: Partial<Run> = {}): Run {
  return { kind: "run", sql, types: [], session: sessionOf(), values: [], formats: [], ...more };
}

function rowsOf(bytes: number): Outcome {
  const column = { name: "relname", oid: 19, size: 64, modifier: -1 };
  const vector = {
    values: new Uint8Array(bytes),
    offsets: Int32Array.of(0, bytes),
    validity: undefined,
  };
  return { id: 1, kind: "rows", result: { columns: [column], rows: 1, vectors: [vector] } };
}
