/** The book over kills at any moment: what was begun has a record, or is counted as lost, to the record. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryRecords } from "@gateway/control/store/memory/records.ts";
import type { RecordStore } from "@gateway/control/store/store.ts";
import { seededRandom, virtualHost } from "@gateway/core/rig/virtual.ts";
import { recordOf } from "@gateway/core/record/rig/recordOf.ts";
import { err } from "@gateway/core/result.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { slotBytes } from "./bookSlots.ts";
import { countLostQueries } from "./lostQueries.ts";
import { openQueryBook, type QueryBook } from "./queryBook.ts";
import { storeHistory } from "./storeHistory.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-book-"));
afterAll(() => rmSync(folder, { recursive: true }));
const never = new AbortController().signal;

describe("a history with a book whose process is killed", () => {
  it("counts exactly the queries without a record, whenever the kill came", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const { begun, records, dropped } = await livesOf(seed);
        const known = await records.known(begun);
        expect(known.ok && begun.length - known.value.size).toBe(dropped);
      }),
      { numRuns: 60 },
    );
  });

  it("names what ran and what had ended, and says how the last process ended", async () => {
    const path = join(folder, "named");
    const killed = openQueryBook(path, virtualHost(1).log);
    for (const id of ["runs", "ended", "kept"]) killed.begin(id);
    killed.ended("ended");
    killed.kept(["kept"]);
    const { host, dropped } = await judged(path, memoryRecords());
    expect(dropped()).toBe(2);
    expect(host.log.lines.map(({ event, fields }) => [event, fields])).toEqual([
      ["process.endedBefore", { how: "without a word", running: 1 }],
      ["history.lost", { queryId: "runs", state: "running" }],
      ["history.lost", { queryId: "ended", state: "ended" }],
      ["history.dropped", { count: 2, running: 1, detail: "killed" }],
    ]);
  });

  it("says when a bug ended the last process", async () => {
    const path = join(folder, "crashed");
    openQueryBook(path, virtualHost(1).log).crashed();
    const { host } = await judged(path, memoryRecords());
    expect(host.log.lines[0]?.fields).toEqual({ how: "a bug", running: 0 });
  });

  it("says nothing after a clean end, and goes on with the number of all that were lost", async () => {
    const path = join(folder, "clean");
    const first = openQueryBook(path, virtualHost(1).log);
    first.begin("q1");
    first.lost(["q1"]);
    first[Symbol.dispose]();
    const { host, dropped } = await judged(path, memoryRecords());
    expect(dropped()).toBe(1);
    expect(host.log.lines).toEqual([]);
  });

  it("counts nothing before the store has answered, and leaves it to the next process then", async () => {
    const path = join(folder, "away");
    openQueryBook(path, virtualHost(1).log).begin("q1");
    const away: RecordStore["known"] = async () => err({ code: "unavailable", detail: "down" });
    const stopping = new AbortController();
    const host = virtualHost(1);
    const book = openQueryBook(path, host.log);
    const judging = countLostQueries({ book, known: away, host, signal: stopping.signal });
    await host.advance(20_000);
    stopping.abort();
    await judging;
    book[Symbol.dispose]();
    expect(host.metrics.value("gateway_history_dropped_total", {})).toBe(0);
    expect((await judged(path, memoryRecords())).dropped()).toBe(1);
  });

  it("does not count a record twice when the kill came between the count and its slot", async () => {
    const path = join(folder, "between");
    const killed = openQueryBook(path, virtualHost(1).log);
    killed.begin("q1");
    const slot = readFileSync(path).subarray(slotBytes);
    killed.lost(["q1"]);
    writeFileSync(path, Buffer.concat([readFileSync(path).subarray(0, slotBytes), slot]));
    expect((await judged(path, memoryRecords())).dropped()).toBe(1);
  });

  it("says that a damaged head forgot its count, and still finds the queries", async () => {
    const path = join(folder, "damaged");
    const killed = openQueryBook(path, virtualHost(1).log);
    killed.begin("q1");
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xff, 8, 16));
    const { host, dropped } = await judged(path, memoryRecords());
    expect(host.log.lines[0]?.event).toBe("history.countDamaged");
    expect(dropped()).toBe(1);
  });

  it("takes no more room than the most queries that were without an end at one time", () => {
    const path = join(folder, "room");
    using book = openQueryBook(path, virtualHost(1).log);
    for (let n = 0; n < 10_000; n += 1) {
      book.begin(`q${n}`);
      if (n >= 10) book.kept([`q${n - 10}`]);
    }
    expect(statSync(path).size).toBeLessThanOrEqual(slotBytes * 12);
  });
});

/** Some lives of one process, each but the last one killed; then all is kept that still can be. */
async function livesOf(seed: number) {
  const random = seededRandom(seed);
  const path = join(folder, `lives-${seed}-${crypto.randomUUID()}`);
  const records = memoryRecords();
  const begun: string[] = [];
  const lives = 1 + Math.floor(random() * 4);
  for (let life = 0; life < lives; life += 1) await oneLife({ path, records, begun, random });
  const { dropped } = await judged(path, records);
  return { begun, records, dropped: dropped() };
}

interface Life {
  readonly path: string;
  readonly records: RecordStore;
  readonly begun: string[];
  readonly random: () => number;
}

async function oneLife({ path, records, begun, random }: Life): Promise<void> {
  const host = virtualHost(1);
  const real = openQueryBook(path, host.log);
  let killed = false;
  const alive = (work: () => void): void => (killed ? undefined : work());
  const book: QueryBook = {
    found: real.found,
    begin: (id) => alive(() => real.begin(id)),
    ended: (id) => alive(() => real.ended(id)),
    kept: (ids) => alive(() => real.kept(ids)),
    lost: (ids) => alive(() => real.lost(ids)),
    judged: (lost) => alive(() => real.judged(lost)),
    crashed: () => {},
    [Symbol.dispose]: () => {},
  };
  if (random() < 0.8) {
    await countLostQueries({ book, known: (ids) => records.known(ids), host, signal: never });
  }
  const history = storeHistory({
    host,
    redaction: () => "full",
    texts: false,
    book,
    batchRecordsMax: 3,
    keep: async (batch, nowMs) => {
      if (killed || random() < 0.2) return err({ code: "unavailable", detail: "ECONNREFUSED" });
      if (random() < 0.1) return err({ code: "unavailable", detail: "22P05" });
      const kept = await records.ingest(batch, nowMs);
      // The kill comes after the commit and before its answer.
      if (random() < 0.2) killed = true;
      return killed ? new Promise(() => {}) : kept;
    },
  });
  const open: QueryId[] = [];
  for (let step = 0; step < 40; step += 1) {
    if (killed) return;
    if (random() < 0.6) {
      const id = `q${begun.length}` as QueryId;
      begun.push(id);
      open.push(id);
      history.begin?.(id);
    } else {
      const [id] = open.splice(Math.floor(random() * open.length), 1);
      if (id !== undefined) history.append(recordOf({ proxyQueryId: id }));
    }
    await host.advance(Math.floor(random() * 100));
  }
  killed = true;
}

async function judged(path: string, records: Pick<RecordStore, "known">) {
  const host = virtualHost(1);
  using book = openQueryBook(path, host.log);
  await countLostQueries({ book, known: (ids) => records.known(ids), host, signal: never });
  const dropped = (): number => host.metrics.value("gateway_history_dropped_total", {}) ?? 0;
  return { host, dropped };
}
