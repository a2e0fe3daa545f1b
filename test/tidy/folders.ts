/** Folders: engines and frontends look alike, suites are contracts, and none holds more than one looks through. */
import { posix } from "node:path";
import { filesOf, sourcesOf, type Tree } from "./tree.ts";

interface Kind {
  /** Matches the file that makes a folder one of this kind. */
  readonly mark: RegExp;
  readonly files: readonly string[];
  /** The contract of the port; a test in the folder runs it. */
  readonly suite: string;
}

const kinds: readonly Kind[] = [
  {
    mark: /^packages\/engines\/src\/[^/]+\/engine\.ts$/,
    files: ["config.ts", "engine.ts", "adapter.ts", "errors.ts", "README.md"],
    suite: "engineSuite",
  },
  {
    mark: /^packages\/frontends\/src\/[^/]+\/frontend\.ts$/,
    files: [
      "config.ts",
      "frontend.ts",
      "listen.ts",
      "machine.ts",
      "encode.ts",
      "errors.ts",
      "README.md",
    ],
    suite: "frontendSuite",
  },
];

/** Agreed files that are missing from a folder, and folders whose tests never run their suite. */
export function folderProblems(tree: Tree): readonly string[] {
  return kinds.flatMap((kind) =>
    [...tree.keys()]
      .filter((path) => kind.mark.test(path))
      .flatMap((path) => problemsIn(tree, posix.dirname(path), kind)),
  );
}

function problemsIn(tree: Tree, folder: string, kind: Kind): readonly string[] {
  const missing = kind.files
    .filter((name) => !tree.has(`${folder}/${name}`))
    .map((name) => `${folder}: ${name} is missing`);
  const tests = filesOf(tree, (path) => path.startsWith(`${folder}/`) && path.endsWith(".test.ts"));
  const runsSuite = [...tests.values()].some((text) => text.includes(`${kind.suite}(`));
  return runsSuite ? missing : [...missing, `${folder}: no test calls ${kind.suite}(`];
}

/** A suite is a contract that somebody calls; what only shares helpers belongs into a `rig/`. */
export function suiteProblems(tree: Tree): readonly string[] {
  const suites = filesOf(tree, (path) => path.endsWith(".suite.ts"));
  return [...suites]
    .filter(([, text]) => !/^export function \w+Suite\b/m.test(text))
    .map(([path]) => `${path}: exports no suite; helpers of tests stand in a rig/`);
}

const sourcesMax = 16;

/** Folders with more sources than a newcomer looks through; what belongs together moves into a room. */
export function crowdProblems(tree: Tree): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of sourcesOf(tree).keys()) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > sourcesMax)
    .map(([folder, count]) => `${folder}: ${count} files, at most ${sourcesMax}`);
}
