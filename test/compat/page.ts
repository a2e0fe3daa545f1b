/** `docs/reference/compatibility.md`, written from what the suites said. The same results give the same bytes. */
import { posix } from "node:path";
import { code, page, table } from "@gateway/gateway/docs/markdown.ts";
import { clientsFolder, type Outcome, type Stated } from "./results.ts";
import { prose } from "./prose.ts";
import type { LeftOut, RealCases, Unsupported } from "./sources.ts";
import { suiteSection, type RecordedSuite } from "./suites.ts";

/** Everything that the page is made of. */
export interface Compatibility {
  readonly stated: readonly Stated[];
  readonly frontends: readonly Unsupported[];
  readonly engines: readonly Unsupported[];
  readonly cases: readonly RealCases[];
  readonly leftOut: readonly LeftOut[];
  readonly suites: readonly RecordedSuite[];
}

const holds = "✓";
/** The engine's own test names no such value. */
const absent = "–";

const introduction = [
  `Every ${holds} is a test that passes, every "not supported" one that is skipped with the reason or the error`,
  "behind it. The suites write this page (`npm run docs:compatibility`); `npm test` fails when it says something",
  "else than they do. What becomes of a value's type is in [types](types.md), what each protocol shows for an",
  "error code in [errors](errors.md).",
];

/** The page. */
export function compatibilityPage(input: Compatibility): string {
  return page([
    ["# Compatibility"],
    introduction,
    ["## Engines"],
    [
      "Each engine passes the same contract, `packages/engines/src/engine.suite.ts`, with its own SQL.",
    ],
    ...backends(input.stated),
    ["## Frontends"],
    [
      "Each frontend passes the same contract, `packages/frontends/src/frontend.suite.ts`, with a client that",
      "somebody else wrote.",
    ],
    matrix("Feature", subjectsOf(input.stated, asFrontend, featureOf)),
    ["## Clients"],
    ["npm's clients against a whole gateway."],
    ...input.frontends.flatMap((frontend) => clientsOf(frontend, input.stated)),
    ["## Not supported, and what the client sees"],
    ["From the README.md of each folder."],
    ...[...input.frontends, ...input.engines].flatMap(unsupported),
    ...suiteSection(input.suites),
    ["## Real programs"],
    [
      "Clients and servers as they are installed, driven by `npm run test:real`. These tests are no part of",
      "`npm test`; a program that can not be had is skipped there with the reason.",
    ],
    table(
      ["Program", "Engine behind", "What is shown"],
      input.cases.flatMap(({ tool, behind, titles }) =>
        titles.map((title) => [code(tool), behind, prose(title)]),
      ),
    ),
    ...input.leftOut.flatMap(leftOutOf),
  ]);
}

const asBackend = " as a backend";
const asFrontend = " as a frontend";
/** A value's test names its type first: one word, or one with brackets that may hold others. */
const asItCame = /^gives back (\w+(?:\((?:[^()]|\([^()]*\))*\))?(?: zoned)?) .* as it came$/;
/** The suite's test of the list of skips; it says nothing about an engine. */
const aboutSuite = new Set(["has every test that is skipped"]);

type Subjects = ReadonlyMap<string, ReadonlyMap<string, Outcome>>;

function backends(stated: readonly Stated[]): readonly (readonly string[])[] {
  const isValue = ({ title }: Stated): boolean => asItCame.test(title);
  const features = stated.filter((one) => !isValue(one));
  const values = stated.filter(isValue);
  return [
    matrix("Feature", subjectsOf(features, asBackend, featureOf)),
    [
      `Types whose values came back from the engine as they went in as parameters; ${absent} is a type that the`,
      "engine's test does not send.",
    ],
    matrix("Type", subjectsOf(values, asBackend, typeOf)),
  ];
}

/** Results by feature under each suite's subject, subjects by name, features in the suite's order. */
function subjectsOf(
  stated: readonly Stated[],
  suffix: string,
  rowOf: (one: Stated) => string,
): Subjects {
  const subjects = new Map<string, Map<string, Outcome>>();
  for (const one of stated) {
    const [suite = ""] = one.groups;
    if (!isSuite(one, suffix) || aboutSuite.has(one.title)) continue;
    const name = suite.slice(0, -suffix.length);
    const rows = subjects.get(name) ?? new Map<string, Outcome>();
    subjects.set(name, rows);
    const row = rowOf(one);
    // Several values of a type are one row, which holds when all of them do.
    if ((rows.get(row)?.kind ?? "holds") === "holds") rows.set(row, one.outcome);
  }
  return new Map([...subjects].toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

function isSuite({ file, groups }: Stated, suffix: string): boolean {
  return !file.startsWith(clientsFolder) && (groups[0]?.endsWith(suffix) ?? false);
}

function featureOf({ groups, title }: Stated): string {
  return prose([...groups.slice(1), title].join(": "));
}

function typeOf({ title }: Stated): string {
  return code(asItCame.exec(title)?.[1] ?? title);
}

/** One row per feature, one column per subject. */
function matrix(what: string, subjects: Subjects): readonly string[] {
  const features = new Set([...subjects.values()].flatMap((rows) => [...rows.keys()]));
  // Features have the order of the suite, which every subject states whole; types are each one's own.
  const listed = what === "Type" ? [...features].toSorted() : [...features];
  const lines = listed.map((feature) => [
    feature,
    ...[...subjects.values()].map((rows) => {
      const outcome = rows.get(feature);
      return outcome === undefined ? absent : cellOf(outcome);
    }),
  ]);
  return table([what, ...subjects.keys()], lines);
}

function clientsOf(
  frontend: Unsupported,
  stated: readonly Stated[],
): readonly (readonly string[])[] {
  const wire = posix.basename(posix.dirname(frontend.readme));
  const rows = stated
    .filter(({ file }) => wireOf(file, [wire]) !== undefined)
    .map(({ groups, title, outcome }) => [prose(groups.join(", ")), prose(title), cellOf(outcome)]);
  return [
    [`### Clients: ${frontend.title}`],
    table(["Client or part", "Guarantee", "Result"], rows),
  ];
}

/** The frontend's folder that a client's test file is about: its name begins with it. */
export function wireOf(file: string, wires: readonly string[]): string | undefined {
  if (!file.startsWith(`${clientsFolder}/`)) return undefined;
  return wires.find((wire) => posix.basename(file).startsWith(wire));
}

function unsupported({ title, readme, table: lines }: Unsupported): readonly (readonly string[])[] {
  return [[`### ${title}`], [`[${readme}](../../${readme})`], lines];
}

function leftOutOf({ tool, reasons }: LeftOut): readonly (readonly string[])[] {
  const rows = Object.entries(reasons)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([test, reason]) => [code(test), prose(reason)]);
  return [
    [`### Left out of ${code(tool)}`],
    ["Tests of its own suite that say nothing about the gateway."],
    table(["Test", "Why"], rows),
  ];
}

function cellOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case "holds":
      return holds;
    case "skipped":
      return `not supported: ${prose(outcome.reason ?? "no reason given").replace(/\.$/, "")}`;
    case "failed":
      return "fails";
  }
}
