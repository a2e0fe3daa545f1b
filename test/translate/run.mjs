/**
 * `node --import tsx test/translate/run.mjs`: the differential suite of translation. Each construct runs as it is on an
 * engine of its dialect and translated on the engines of the others, and the rows are compared.
 *
 * Fails where what was found is not what `found.json` says, or where that does not stand in the words that `strict`
 * lets pass and in the reference page; `--write` writes all three, and `--derive`
 * the last two from the first, without an engine. Other arguments pick dialects: `duckdb postgres`.
 */
import { init } from "@polyglot-sql/sdk";
import { translatedText } from "@gateway/sql/translate/translate.ts";
import { constructs } from "./constructs.mjs";
import { openEngines } from "./engines.mjs";
import { judgedPairs, outOfStep, readFound, writeFound } from "./kept.mjs";

const writes = process.argv.includes("--write");
const shows = process.argv.includes("--show");
const derives = process.argv.includes("--derive");
const wanted = process.argv.slice(2).filter((word) => !word.startsWith("-"));

await init();
if (derives) {
  writeFound(readFound());
  process.exit();
}
const { engines, missing } = await openEngines(wanted);
for (const [dialect, reason] of missing) console.log(`without ${dialect}: ${reason}`);
const asked = new Map();
/** What was found of each pair. */
const found = new Map();
try {
  for (const [source, target] of pairsOf([...engines.keys()])) {
    found.set(`${source} ${target}`, await pairOf(source, target));
  }
} finally {
  for (const { close } of engines.values()) await close();
}
const states = new Map(
  [...found].map(([pair, list]) => [pair, new Map(list.map(({ name, state }) => [name, state]))]),
);
for (const [pair, { tested, unseen }] of judgedPairs(states)) tell(pair, tested, unseen);
const kept = readFound();
if (writes) writeFound(new Map([...kept, ...states]));
const wrong = [
  ...changes(),
  ...outOfStep().map((file) => `not in step with what was found: ${file}`),
];
for (const line of wrong) console.log(line);
console.log(`${found.size} pairs of dialects, ${wrong.length} failed, ${missing.size} skipped`);
process.exit(wrong.length > 0 ? 1 : 0);

function tell(pair, tested, unseen) {
  const list = found.get(pair);
  const count = (state) => list.filter((one) => one.state === state).length;
  const counts = ["same", "differs", "refused"].map((state) => `${count(state)} ${state}`);
  console.log(`${pair}: ${counts.join(", ")}; ${tested.length} words`);
  if (!shows) return;
  for (const { name, state, text = "", why } of list) {
    if (state !== "same") console.log(`   ${state}: ${name}: ${text}\n      ${why}`);
  }
  for (const name of unseen) console.log(`   differs, and no word of it tells: ${name}`);
}

/** What is not as it was, one line each. */
function changes() {
  if (writes) return [];
  return [...states].flatMap(([pair, own]) =>
    [...own].flatMap(([name, state]) => {
      const was = kept.get(pair)?.get(name) ?? "unknown";
      return was === state ? [] : [`${pair}: ${name}: was ${was}, is ${state}`];
    }),
  );
}

function pairsOf(dialects) {
  return dialects.flatMap((source) =>
    dialects.filter((target) => target !== source).map((target) => [source, target]),
  );
}

async function pairOf(source, target) {
  const list = [];
  for (const construct of constructs) {
    const steps = construct.steps ?? [construct.sql];
    list.push({ name: construct.name, ...(await compared(construct, steps, source, target)) });
  }
  return list;
}

/** `none`: the source refuses the statement itself, or reads it as something else than is meant. */
async function compared(construct, steps, source, target) {
  if (construct.not?.includes(source)) return { state: "none" };
  const own = await ownRows(source, steps);
  if (own.error !== undefined) return { state: "none", why: own.error };
  const texts = [];
  for (const sql of steps) {
    const { types } = construct;
    const input = { sql, source, target, refuses: true, proves: false };
    const made = translatedText({ ...input, ...(types && { types }) });
    if (made.kind !== "translated") {
      return { state: "refused", why: "it is not translated" };
    }
    texts.push(made.sql);
  }
  const text = texts.join("; ");
  const other = await rowsOf(engines.get(target), texts);
  if (other.error !== undefined) return { state: "refused", text, why: other.error };
  const [a, b] = [own.rows, other.rows].map((rows) => (construct.ordered ? rows : rows.toSorted()));
  if (JSON.stringify(a) === JSON.stringify(b)) return { state: "same", text };
  return { state: "differs", text, why: `${a.join(" ")} | ${b.join(" ")}`.slice(0, 600) };
}

/** What the source itself answers, asked once. */
function ownRows(source, steps) {
  const key = `${source} ${steps.join(";")}`;
  const known = asked.get(key) ?? rowsOf(engines.get(source), steps);
  asked.set(key, known);
  return known;
}

/** Of the last step but one where there are several: the last takes away what the others made. */
async function rowsOf(engine, steps) {
  const answers = [];
  let error;
  for (const sql of steps) {
    try {
      if (error === undefined || /^DROP/i.test(sql)) answers.push(await engine.ask(sql));
    } catch (thrown) {
      error ??= String(thrown.message ?? thrown)
        .split("\n")[0]
        .slice(0, 300);
    }
  }
  if (error !== undefined) return { error };
  return { rows: answers.length === 1 ? answers[0] : answers[answers.length - 2] };
}
