/**
 * Fifty gateways, ten thousand at night, over engines that refuse, break and fall silent, on virtual time: no
 * statement is given again once its engine has said anything, and no part of a result looks like the whole. A failure
 * names its seed.
 */
import { gatewayError } from "@gateway/core/error.ts";
import type { ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import { seededRandom } from "@gateway/core/rig/virtual.ts";
import { planeOf, queryOf, type TestPlane } from "@gateway/core/run/rig/plane.ts";
import { runQuery } from "@gateway/core/run/run.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import { limitMs, sayPlayed, seedsBy } from "./seeds.ts";

const seeds = seedsBy(50);
/** A planted bug shows within these. */
const plantedSeeds = seeds.slice(0, 50);

const clusters = ["one", "two", "three"] as const;
const queries = 8;
const batchesMost = 4;
const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];

/** What an engine does with a statement. */
const deeds = ["whole", "refuses", "breaks", "says nothing and breaks", "falls silent"] as const;
type Deed = (typeof deeds)[number];

/** One execution, by the engine's own log. */
interface Execution {
  readonly query: string;
  readonly deed: Deed;
  /** Whether the engine has said anything. */
  spoke: boolean;
  batches: number;
}

/** What the client of a query has. */
interface Answer {
  readonly query: string;
  readonly batches: number;
  readonly end: string;
}

interface Played {
  readonly log: readonly Execution[];
  readonly answers: readonly Answer[];
  readonly plane: TestPlane;
}

/** A wrong build: another line of a query. */
type Line = typeof runQuery;

describe("queries over engines that break", () => {
  it(
    "are run once and told truly under every seed",
    async () => {
      const met = new Map<Deed, number>();
      let elsewhere = 0;
      for (const seed of seeds) {
        const played = await play(seed, runQuery);
        expect(brokenIn(played), `seed ${seed}`).toEqual([]);
        for (const { deed } of played.log) met.set(deed, (met.get(deed) ?? 0) + 1);
        elsewhere += played.log.length - played.answers.length;
      }
      // What never happened was not tested.
      expect(Math.min(...deeds.map((deed) => met.get(deed) ?? 0))).toBeGreaterThan(seeds.length);
      expect(elsewhere).toBeGreaterThan(seeds.length / 2);
      sayPlayed("gateways over engines that break", seeds);
    },
    limitMs,
  );

  it.each<readonly [string, Line, string]>([
    ["replays after the first byte", replaying, "I2"],
    ["tells a part as the whole", pretending, "I10"],
    ["loses the end of a result", shortening, "I10"],
  ])(
    "finds a planted bug: it %s",
    async (_what, line, invariant) => {
      const found = new Set<string>();
      for (const seed of plantedSeeds) {
        for (const name of brokenIn(await play(seed, line))) found.add(name);
        if (found.has(invariant)) break;
      }
      expect([...found]).toContain(invariant);
    },
    limitMs,
  );
});

async function play(seed: number, line: Line): Promise<Played> {
  const random = seededRandom(seed);
  const log: Execution[] = [];
  const execute = async function* (
    { id }: { readonly id: string },
    signal: AbortSignal,
  ): ResultStream {
    const deed = deeds[Math.floor(random() * deeds.length)] ?? "whole";
    const execution: Execution = { query: id, deed, spoke: false, batches: 0 };
    log.push(execution);
    if (deed === "refuses") {
      yield { kind: "failed", error: gatewayError("cluster.connectFailed") };
      return;
    }
    if (deed !== "says nothing and breaks") {
      execution.spoke = true;
      yield { kind: "columns", columns };
      const count = 1 + Math.floor(random() * batchesMost);
      for (let number = 0; number < count && !signal.aborted; number += 1) {
        execution.batches += 1;
        yield { kind: "batch", batch: batchOf(columns, [[BigInt(number)]]) };
      }
    }
    if (deed === "falls silent") return;
    if (deed === "whole") yield { kind: "done", stats: noStats };
    else yield { kind: "failed", error: gatewayError("engine.broken") };
  };
  const plane = planeOf({ clusters: Object.fromEntries(clusters.map((name) => [name, execute])) });
  const answers = await Promise.all(
    Array.from({ length: queries }, (_, number) => answerOf(line, plane, `select ${number}`)),
  );
  return { log, answers, plane };
}

async function answerOf(line: Line, plane: TestPlane, sql: string): Promise<Answer> {
  const query = queryOf(sql);
  let batches = 0;
  let end = "none";
  for await (const event of line(query, plane, new AbortController().signal)) {
    if (event.kind === "batch") batches += 1;
    if (event.kind === "done" || event.kind === "failed") end = event.kind;
  }
  return { query: query.id, batches, end };
}

/** Every invariant that does not hold, by its name. */
function brokenIn({ log, answers, plane }: Played): readonly string[] {
  const broken = new Set<string>();
  for (const { query, batches, end } of answers) {
    const own = log.filter((execution) => execution.query === query);
    const spoken = own.findIndex(({ spoke }) => spoke);
    if (spoken !== -1 && spoken !== own.length - 1) broken.add("I2");
    const last = own.at(-1);
    if (batches !== (last?.batches ?? 0)) broken.add("I10");
    if (end !== (last?.deed === "whole" ? "done" : "failed")) broken.add("I10");
    if (plane.records.filter(({ proxyQueryId }) => proxyQueryId === query).length !== 1) {
      broken.add("I1");
    }
  }
  if (plane.slots.size > 0) broken.add("slots");
  if (plane.host.log.bugs.length > 0) broken.add("bug");
  return [...broken];
}

/** Runs a statement again that broke, whatever its client has of it. */
async function* replaying(...[query, plane, signal]: Parameters<Line>): ResultStream {
  for await (const event of runQuery(query, plane, signal)) {
    if (event.kind === "failed") return yield* runQuery(query, plane, signal);
    yield event;
  }
}

async function* pretending(...asked: Parameters<Line>): ResultStream {
  for await (const event of runQuery(...asked)) {
    yield event.kind === "failed" ? { kind: "done", stats: noStats } : event;
  }
}

async function* shortening(...asked: Parameters<Line>): ResultStream {
  let held: ResultEvent | undefined;
  for await (const event of runQuery(...asked)) {
    if (event.kind === "done") held = undefined;
    if (held !== undefined) yield held;
    held = event.kind === "batch" ? event : undefined;
    if (held === undefined) yield event;
  }
}

const noStats = { rows: 0, bytes: 0, queueMs: 0, executionMs: 0 };
