/**
 * Load whose every query writes its own mark into the engine, and the invariants over what became of
 * it: S sent, C seen complete by the client, E done by the engine by its own account, H kept as
 * records, and the number declared lost.
 */
import { count as addCount } from "../evidence/counted.mjs";
import { pgClient, cellOf } from "./ask.mjs";
import { statusOf } from "./ops.mjs";
import { check, notices, same, until } from "./wait.mjs";
import { setTimeout as pause } from "node:timers/promises";

/** Enough that faults meet queries, few enough that two cores keep up with the records. */
const paceMs = 4;
const markPattern = /mark-[a-z0-9]+-[0-9]+-[0-9]+/;

/** Makes the table in which the engine of `worker` keeps what it did. */
export async function openLedger(worker) {
  const client = await pgClient(worker);
  await client.query("create table ledger (mark varchar)");
  await client.end();
  return new Ledger(worker);
}

class Ledger {
  sent = new Set();
  complete = new Set();
  /** Codes of queries that failed. */
  failures = [];
  worstMs = 0;
  #running = [];
  #stopping = false;
  #worker;

  constructor(worker) {
    this.#worker = worker;
  }

  /** Begins to ask over so many connections. */
  start(connections = 2) {
    this.#running = Array.from({ length: connections }, (_, index) => this.#loop(index));
    return this;
  }

  async #loop(index) {
    const client = await pgClient(this.#worker);
    for (let number = 0; !this.#stopping; number += 1) {
      await this.query(client, `mark-${this.#worker.name}-${index}-${number}`);
      await pause(paceMs);
    }
    await client.end();
  }

  async query(client, mark) {
    this.sent.add(mark);
    const fromMs = performance.now();
    try {
      await client.query(`insert into ledger values ('${mark}')`);
      this.complete.add(mark);
    } catch (error) {
      this.failures.push(String(error.code ?? error.message));
    }
    this.worstMs = Math.max(this.worstMs, Math.round(performance.now() - fromMs));
  }

  get count() {
    return this.complete.size;
  }

  async stop() {
    this.#stopping = true;
    await Promise.all(this.#running);
  }

  /** Waits until every record of a query that was sent here is with whoever keeps the history. */
  async settled(seconds = 90) {
    // The table was made by one more.
    const wanted = this.sent.size + 1;
    await until(
      `${this.#worker.name} has sent ${wanted} records`,
      async () => {
        const { queued, sent, dropped } = (await statusOf(this.#worker)).historyUplink;
        return queued === 0 && sent + dropped >= wanted;
      },
      seconds,
    );
  }

  /** Marks by the engine's own account, with how often each was written. */
  async engine() {
    const client = await pgClient(this.#worker);
    try {
      const once = await cellOf(client, "select count(*) = count(distinct mark) from ledger");
      check(once === "true" || once === "t", `the engine ran a query twice (I2): ${once}`);
      const { rows } = await client.query({ text: "select mark from ledger", rowMode: "array" });
      return new Set(rows.map(([mark]) => mark));
    } finally {
      await client.end();
    }
  }

  /**
   * I1, I2 and I3 over `records`, which may be those of many workers. Nothing may have been dropped
   * unless `dropped` says so.
   */
  async judge(records, { dropped = 0 } = {}) {
    const name = this.#worker.name;
    const { historyUplink } = await statusOf(this.#worker);
    same(historyUplink.dropped, dropped, `${name}: records declared lost`);
    const { sent, complete } = this;
    const kept = records.filter((record) => record.worker === name).map(markOf);
    const marks = kept.filter((mark) => mark !== undefined);
    const facts = { name, dropped, sent, complete, engine: await this.engine(), marks };
    const outcome = judged(facts);
    await planted(facts);
    addCount("load", sent.size);
    addCount("declared", dropped);
    addCount("lost", outcome.lost - dropped);
    return { queries: sent.size, records: outcome.records };
  }
}

function judged({ name, dropped, sent, complete, engine, marks }) {
  const distinct = new Set(marks);
  same(marks.length, distinct.size, `${name}: a query has two records (I2)`);
  const wanted = new Set([...complete, ...engine]);
  const lost = [...wanted].filter((mark) => !distinct.has(mark));
  same(lost.length, dropped, `${name}: queries without a record (I1), as ${lost[0]}`);
  const invented = marks.filter((mark) => !sent.has(mark));
  same(invented, [], `${name}: records of queries that nobody sent (I3)`);
  const undone = [...complete].filter((mark) => !engine.has(mark));
  same(undone, [], `${name}: answered, but the engine did not run it`);
  return { records: distinct.size, lost: lost.length };
}

/** What a wrong build would leave behind, of these same facts. */
async function planted(facts) {
  const { complete, engine, marks } = facts;
  check(complete.size > 0 && marks.length > 0, `${facts.name}: nothing ran`);
  const wrong = (what, more, reason) => notices(what, () => judged({ ...facts, ...more }), reason);
  const answered = marks.find((mark) => complete.has(mark));
  await wrong("a record that is gone", { marks: marks.filter((mark) => mark !== answered) }, /I1/);
  await wrong("a record that is there twice", { marks: [...marks, answered] }, /I2/);
  await wrong("a record of nobody", { marks: [...marks, "mark-nobody-0-0"] }, /I3/);
  const without = new Set([...engine].filter((mark) => mark !== answered));
  await wrong("an answer that was made up", { engine: without }, /did not run it/);
}

/** The mark in a record's SQL; undefined for queries of the test itself. */
export function markOf(record) {
  return record.sql?.startsWith("insert into ledger")
    ? markPattern.exec(record.sql)?.[0]
    : undefined;
}

/** Ids are the table's key, so a second record for one would show as a conflict. */
export async function recordsOf(control) {
  const conflicts = await control.admin.all("/admin/query-conflicts");
  same(conflicts.length, 0, "records that differ for one id");
  const records = await control.admin.all("/admin/queries");
  const ids = new Set(records.map(({ proxyQueryId }) => proxyQueryId));
  same(ids.size, records.length, "records with one id (I2)");
  return records;
}
