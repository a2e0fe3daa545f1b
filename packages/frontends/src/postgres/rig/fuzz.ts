/**
 * Frames by chance: sound ones in any order, broken ones, and noise, cut into chunks anywhere.
 *
 * Every run comes from a seed. What must hold whatever comes: no bug, every answer made of whole
 * messages, at most one ReadyForQuery for each message that may bring one, and an end.
 */
import { seededRandom } from "@gateway/core/rig/virtual.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { lettersIn, memoryClient } from "./memory.ts";
import {
  bindOf,
  cancelOf,
  closeOf,
  describeOf,
  executeOf,
  flush,
  messageOf,
  parseOf,
  queryOf,
  sslRequest,
  startupOf,
  sync,
  textOf,
} from "./rawClient.ts";
import { column, doneOf, resultOf } from "./served.ts";
import { transactional } from "./transaction.ts";

type Random = () => number;

/** Frames of one connection at most. */
const framesPerConnection = 200;

const texts = [
  "select 1",
  "select 2; select 1",
  "insert into t",
  "insert into t; select 1",
  "broken",
  "BEGIN",
  "COMMIT",
  "ROLLBACK",
  "savepoint a",
  "release a",
  "rollback to a",
  "",
  ";;",
  "copy (select 2) to stdout csv",
  "declare c cursor for select 2",
  "fetch 1 from c",
  "fetch all from c",
  "move 1 in c",
  "close c",
  "close all",
  "set application_name = 'x'",
  "set local application_name = 'y'",
  "show timezone",
  "discard all",
  "deallocate s",
  "select '",
  "\u00e4\u{1f600}",
];

function scriptOf() {
  const description = { parameters: [], columns: column("n") };
  return {
    answers: transactional({
      "select 1": resultOf(column("n"), [1n]),
      "select 2": resultOf(column("n"), [1n], [2n], [null]),
      "insert into t": [doneOf("INSERT", 1)],
      "savepoint a": [doneOf("SAVEPOINT")],
      "release a": [doneOf("RELEASE SAVEPOINT")],
      "rollback to a": [doneOf("ROLLBACK TO SAVEPOINT")],
      broken: [{ kind: "failed", error: gatewayError("query.data") }],
    }),
    descriptions: { "select 1": description, "select 2": description },
  };
}

/** What one run did. */
export interface Fuzzed {
  readonly frames: number;
  readonly connections: number;
  /** Milliseconds of the connection that took longest. */
  readonly slowestMs: number;
}

/** Sends that many frames, over as many connections as it takes. Throws with the seed when something does not hold. */
export async function fuzz(frames: number, seed: number): Promise<Fuzzed> {
  const random = seededRandom(seed);
  let sent = 0;
  let connections = 0;
  let slowestMs = 0;
  while (sent < frames) {
    const from = performance.now();
    try {
      sent += await fuzzConnection(random);
    } catch (error) {
      throw new Error(`seed ${seed}, connection ${connections}`, { cause: error });
    }
    slowestMs = Math.max(slowestMs, performance.now() - from);
    connections += 1;
  }
  return { frames: sent, connections, slowestMs };
}

async function fuzzConnection(random: Random): Promise<number> {
  const client = memoryClient(scriptOf(), 4096);
  const started = random() < 0.9;
  if (started) {
    client.push(startupOf({ user: "ann" }));
    await turn();
  }
  const greeted = client.sent().length;
  const count = 1 + Math.floor(random() * framesPerConnection);
  let sent = 0;
  let syncs = 0;
  while (sent < count && !client.ended) {
    const bytes: Uint8Array[] = [];
    const together = 1 + Math.floor(random() * 20);
    for (let frame = 0; frame < together; frame += 1) bytes.push(frameOf(random));
    sent += together;
    syncs += together;
    for (const chunk of chunksOf(Buffer.concat(bytes), random)) client.push(chunk);
    await turn();
  }
  await client.leave();
  const [bug] = client.host.log.bugs;
  if (bug !== undefined) throw bug instanceof Error ? bug : new Error("a bug was logged");
  if (!started) return sent;
  const letters = lettersIn(client.sent().subarray(greeted));
  if (letters === undefined) throw new Error("an answer that is not made of whole messages");
  const ready = letters.replaceAll(/[^Z]/g, "").length;
  if (ready > syncs) throw new Error(`${ready} times ready after ${syncs} frames`);
  return sent;
}

/** Lets the server answer. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function frameOf(random: Random): Uint8Array {
  const sound = soundFrame(random);
  const chance = random();
  if (chance < 0.985) return sound;
  if (chance < 0.99) return noise(random, 1 + Math.floor(random() * 40));
  const broken = Buffer.from(sound);
  if (chance < 0.996) {
    broken[Math.floor(random() * broken.length)] = Math.floor(random() * 256);
    return broken;
  }
  return broken.subarray(0, Math.floor(random() * broken.length));
}

function soundFrame(random: Random): Uint8Array {
  const name = pick(random, ["", "", "s", "c", "missing"]);
  const sql = pick(random, texts);
  const values = random() < 0.2 ? ["1", null, noise(random, 3)] : [];
  const makers: readonly (() => Uint8Array)[] = [
    () => queryOf(sql),
    () => parseOf(name, sql, random() < 0.2 ? [23, 0] : []),
    () => bindOf({ portal: name, statement: pick(random, ["", "s"]), values }),
    () => bindOf({ portal: name, resultFormats: pick(random, [[], [1], [0, 1]]) }),
    () => describeOf(pick(random, ["S", "P"] as const), name),
    () => executeOf(name, Math.floor(random() * 3)),
    () => executeOf("", 0),
    () => closeOf(pick(random, ["S", "P"] as const), name),
    () => flush,
    () => sync,
    () => sync,
    () => messageOf("d", noise(random, 10)),
    () => messageOf("c"),
    () => messageOf("f", textOf("no")),
    () => rare(random),
  ];
  return pick(random, makers)();
}

/** Frames that end the connection when they are not expected, so few of them. */
function rare(random: Random): Uint8Array {
  if (random() < 0.9) return sync;
  const makers: readonly (() => Uint8Array)[] = [
    () => messageOf("p", textOf("password")),
    () => messageOf("F", noise(random, 12)),
    () => messageOf("X"),
    () => startupOf({ user: "root" }),
    () => sslRequest,
    () => cancelOf({ process: 1, secret: noise(random, 4) }),
    () => messageOf("Q", noise(random, 20)),
  ];
  return pick(random, makers)();
}

function noise(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => Math.floor(random() * 256));
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

function* chunksOf(bytes: Uint8Array, random: Random): Generator<Uint8Array> {
  let at = 0;
  while (at < bytes.length) {
    const length = random() < 0.7 ? bytes.length : 1 + Math.floor(random() * 30);
    yield bytes.subarray(at, at + length);
    at += length;
  }
}
