/**
 * F25: two faults of the matrix at once, with an order and a length by a seed. A fixed pair by day; at night for an hour
 * the pairs that were met least so far (`met.mjs`), so that over nights every two meet that can. Each has a fleet of its
 * own, and its seed repeats it: `FLEET_SEED=… FLEET_PAIR=F1+F11 node test/fleet/run.mjs f25`.
 */
import { setTimeout as pause } from "node:timers/promises";
import { count as addCount } from "../../evidence/counted.mjs";
import { Skip, openFleet } from "../fleet.mjs";
import { faults, pairs } from "../faults.mjs";
import { Met } from "../met.mjs";
import { chanceOf, seed } from "../seed.mjs";
import { cap, judge, openSwarm, progress, settled } from "../swarm.mjs";
import { check, notices } from "../wait.mjs";

const loadSecs = Number(process.env.SWARM_SECS ?? 0);
const byDay = ["F5", "F13"];
export const title =
  loadSecs > 0
    ? `F25: ${loadSecs} s of two faults at once, by seeds (I1, I2, I3, I4, I10)`
    : "F25: two faults at once (I1, I2, I3, I4, I10)";
const secondsOfRound = 400;
/** It counts its own. */
export const faultsMade = 0;
export const seconds = loadSecs + secondsOfRound;

/** How long a fault lasts: by day to see both, at night longer than leases and polls. */
const holdMs = loadSecs > 0 ? { least: 500, most: 20_000 } : { least: 500, most: 1_500 };
const warmStatements = 30;

export async function run(fleet) {
  const given = process.env.FLEET_PAIR?.split("+");
  const endMs = performance.now() + loadSecs * 1_000;
  const sums = { rounds: 0, statements: 0, lost: 0, most: 0 };
  const met = await Met.read(pairs);
  let last;
  for (let number = 0; number === 0 || performance.now() < endMs; number += 1) {
    const from = seed + number;
    const pair = given ?? (loadSecs > 0 ? met.least(chanceOf(from)) : byDay);
    last = await round(fleet, from, pair);
    if (loadSecs > 0) await met.add(pair, from);
    sums.rounds += 1;
    sums.statements += last.outcome.statements;
    sums.lost += last.outcome.dropped;
    sums.most = Math.max(sums.most, last.outcome.most);
  }
  fleet.figure(
    `${sums.rounds} pairs, ${sums.statements} statements at the engine, at most ${sums.most} of ${cap} at once, ${sums.lost} records declared lost, 0 lost without a word`,
  );
  if (loadSecs > 0) fleet.figure(met.text());
  await planted(last.seen);
}

/** One pair with a fleet of its own. */
async function round(fleet, from, pair) {
  const [first, second] = faults[pair[1]].beginsFirst ? pair.toReversed() : pair;
  const chance = chanceOf(from);
  const name = `${first}+${second}`;
  const own = await openFleet();
  try {
    const needs = [first, second].map((fault) => faults[fault].needs);
    const swarm = await openSwarm(own, needs);
    await progress(swarm, warmStatements);
    const endFirst = await faults[first].begin(swarm, chance);
    await pause(chance.between(0, holdMs.most / 2));
    const endSecond = await faults[second].begin(swarm, chance);
    await pause(chance.between(holdMs.least, holdMs.most));
    for (const end of chance.shuffled([endFirst, endSecond])) {
      await end();
      await pause(chance.between(0, holdMs.least));
    }
    await Promise.all(swarm.returning);
    await progress(swarm, warmStatements, 150);
    const seen = await settled(swarm);
    const outcome = judge(seen);
    counted(outcome);
    own.judgeLogs();
    const codes = [...seen.failures].map(([code, count]) => `${count} × ${code}`).join(", ");
    fleet.figure(
      `seed ${from} ${name}: ${outcome.statements} statements, ${outcome.dropped} declared lost${codes === "" ? "" : `; ${codes}`}`,
    );
    return { outcome, seen };
  } catch (error) {
    if (error instanceof Skip) throw error;
    throw new Error(`seed ${from} ${name}: ${error.message}\n${own.tails()}`, { cause: error });
  } finally {
    await own.end();
  }
}

function counted({ statements, lost, dropped, most }) {
  addCount("faults", 2);
  addCount("load", statements);
  addCount("declared", dropped);
  addCount("lost", Math.max(0, lost - dropped));
  addCount("over", Math.max(0, most - cap));
}

/** What a wrong build would leave behind. */
async function planted(seen) {
  judge(seen);
  const [statement] = seen.statements.filter(({ sql }) => / mark-/.test(sql));
  check(statement !== undefined, "nothing ran");
  const again = { ...seen, statements: [...seen.statements, statement] };
  await notices("a statement that ran twice", () => judge(again), /I2/);
  const kept = seen.records.filter(({ mark }) => mark !== undefined);
  // One more than could be of those that were declared lost.
  const gone = kept.slice(seen.dropped + 1);
  await notices("a record that is gone", () => judge({ ...seen, records: gone }), /I1/);
  const over = Array.from({ length: cap + 1 }, (_, number) => ({
    sql: `select '1 ms mark-over-0-${number}'`,
    fromMs: 0,
    untilMs: 1,
  }));
  const sent = new Set([...seen.sent, ...over.map((_, number) => `mark-over-0-${number}`)]);
  const more = { ...seen, sent, statements: [...seen.statements, ...over] };
  await notices(
    "a cap that is passed",
    () => judge({ ...more, dropped: seen.dropped + cap + 1 }),
    /I4/,
  );
  const silent = { ...seen, failures: new Map([["Query read timeout", 1]]) };
  await notices("a client that hangs", () => judge(silent), /I10/);
}
