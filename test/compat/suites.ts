/** The part of the page about suites of other projects: what `npm run test:suites` recorded. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { code, table } from "@gateway/gateway/docs/markdown.ts";
import { prose } from "./prose.ts";

const recordFile = "test/suites/recorded.json";

const said = z.record(z.string(), z.string());
const recordedSuite = z.strictObject({
  suite: z.string(),
  version: z.string(),
  /** The server's kind, and the engine of the gateway that speaks to it. */
  behind: z.string(),
  /** The server as it was run. */
  server: z.string(),
  /** Tests that ran on the server itself. */
  ran: z.number(),
  direct: z.number(),
  /** Of those that pass direct. */
  through: z.number(),
  /** What each test said that passes direct and does not pass through. */
  lost: said,
  /** Tests that were not run, and why. */
  leftOut: said,
});

/** One suite on one engine. */
export type RecordedSuite = z.infer<typeof recordedSuite>;

/** What is recorded under a root; nothing where no suite ever ran. */
export function recordedSuites(root: string): readonly RecordedSuite[] {
  const file = join(root, recordFile);
  return existsSync(file)
    ? z.array(recordedSuite).parse(JSON.parse(readFileSync(file, "utf8")))
    : [];
}

/** The blocks of the section. */
export function suiteSection(suites: readonly RecordedSuite[]): readonly (readonly string[])[] {
  if (suites.length === 0) return [];
  return [
    ["## Suites of other projects"],
    [
      "Each suite ran on the server itself and through a gateway before it (`npm run test:suites -- --write`, which",
      "is a part of the nightly run). A test that fails on the server itself counts nowhere.",
    ],
    table(
      ["Suite", "Server", "Gateway's engine", "Pass direct", "Of those through"],
      suites.map(rowOf),
    ),
    ...suites.flatMap(lostOf),
  ];
}

function rowOf({ suite, version, server, behind, ran, direct, through }: RecordedSuite) {
  const engine = behind.split("engine ").at(-1) ?? behind;
  return [`${prose(suite)} ${version}`, prose(server), engine, `${direct} of ${ran}`, `${through}`];
}

function lostOf({ suite, behind, lost, leftOut }: RecordedSuite): readonly (readonly string[])[] {
  const rows = [
    ...lostRows(lost),
    ...Object.entries(leftOut).map(([test, why]) => [code(test), `not run: ${prose(why)}`]),
  ];
  if (rows.length === 0) return [];
  return [
    [`### ${prose(suite)} before ${behind}: what does not pass`],
    table(["Test", "What it says"], rows),
  ];
}

/** One row for each test. One with parameters shows what it says first; the record has all of it. */
function lostRows(lost: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  const found = new Map<string, string[]>();
  for (const [name, why] of Object.entries(lost)) {
    const test = name.replace(/\[.*\]$/s, "");
    found.set(test, [...(found.get(test) ?? []), why]);
  }
  return [...found].map(([test, whys]) => {
    const [first = ""] = whys;
    const kinds = new Set(whys).size;
    const times = whys.length === 1 ? "" : `, ${whys.length} times`;
    const more = kinds === 1 ? "" : ` (the first of ${kinds})`;
    return [`${code(test)}${times}`, `${prose(first)}${more}`];
  });
}
