/**
 * What the suites said: `test/suites/recorded.json`. One entry for each suite and engine, with how many of its
 * tests pass direct, how many of those pass through, and what each of the others said.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("recorded.json", import.meta.url));

/** The entry of one run. Tests that fail direct say nothing about the gateway and are not counted. */
export function entryOf({ suite, version, behind, leftOut }, server, direct, through) {
  const passes = (results, name) => results.get(name)?.outcome === "passed";
  const passed = [...direct.keys()].filter((name) => passes(direct, name));
  const lost = passed.filter((name) => !passes(through, name));
  const ran = [...direct.values()].filter(({ outcome }) => outcome !== "skipped").length;
  return {
    suite,
    version,
    behind,
    server,
    ran,
    direct: passed.length,
    through: passed.length - lost.length,
    lost: Object.fromEntries(
      lost.toSorted((a, b) => (a < b ? -1 : 1)).map((name) => [name, saidOf(through.get(name))]),
    ),
    leftOut,
  };
}

/** What changes from run to run, addresses and names made by chance, is left out. */
function saidOf(result) {
  if (result === undefined) return "did not run";
  if (result.outcome === "skipped") return `skips itself: ${plain(result.said)}`;
  return plain(result.said);
}

function plain(said) {
  return said
    .replaceAll(/127\.0\.0\.1:\d+/g, "the gateway")
    .replaceAll(/\b\d{8}_\d{6}_\d{5}_\w+/g, "an id")
    .replaceAll(/\b0x[0-9a-f]{6,}/g, "an address")
    .replaceAll(/\/tmp\/[\w./-]+/g, "a file")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** All entries, by suite. */
export function recorded() {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
}

/** Puts entries in the place of older ones of their suite and engine. */
export function record(entries) {
  const keyOf = ({ suite, behind }) => `${suite} ${behind}`;
  const fresh = new Set(entries.map(keyOf));
  const all = [...recorded().filter((old) => !fresh.has(keyOf(old))), ...entries];
  const sorted = all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  writeFileSync(file, `${JSON.stringify(sorted, undefined, 2)}\n`);
}

/** Tests that passed through when the entry was recorded, and did not now. */
export function regressions(entry) {
  const old = recorded().find((one) => one.suite === entry.suite && one.behind === entry.behind);
  if (old === undefined) return [];
  return Object.keys(entry.lost).filter((name) => !(name in old.lost));
}
