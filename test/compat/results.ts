/** What the contract suites and the tests of clients said in one run, as plain values. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import type { TestCase, TestModule } from "vitest/node";

/** One guarantee, and whether it holds. */
export interface Stated {
  /** From the root of the repository. */
  readonly file: string;
  /** The titles around it, outermost first. */
  readonly groups: readonly string[];
  readonly title: string;
  readonly outcome: Outcome;
}

export type Outcome =
  | { readonly kind: "holds" }
  /** Skipped by its suite; without a reason when something else left it out, as `-t` does. */
  | { readonly kind: "skipped"; readonly reason: string | undefined }
  | { readonly kind: "failed" };

/** Where the tests of real clients lie. */
export const clientsFolder = "test/e2e/clients";

const suiteFolders = ["packages/engines/src", "packages/frontends/src"];

/** The files that the page is made of: tests of engines and frontends that run a contract, and those of clients. */
export function statingFiles(root: string): readonly string[] {
  const contracts = suiteFolders.flatMap((folder) =>
    foldersIn(join(root, folder)).flatMap((name) => testsIn(root, `${folder}/${name}`)),
  );
  const running = contracts.filter((file) =>
    /\b(?:engine|frontend)Suite\(/.test(readFileSync(join(root, file), "utf8")),
  );
  return [...running, ...testsIn(root, clientsFolder)].toSorted();
}

/** The name of a test file from the root of the repository. */
export function fileOf(root: string, { moduleId }: Pick<TestModule, "moduleId">): string {
  return relative(root, moduleId).split(sep).join(posix.sep);
}

/** Every test of a file in its order. */
export function statedIn(file: string, module: TestModule): readonly Stated[] {
  return [...module.children.allTests()].map((test) => ({
    file,
    groups: groupsOf(test),
    title: test.name,
    outcome: outcomeOf(test),
  }));
}

function groupsOf(test: TestCase): readonly string[] {
  const groups: string[] = [];
  for (let { parent } = test; parent.type === "suite"; { parent } = parent) {
    groups.unshift(parent.name);
  }
  return groups;
}

function outcomeOf(test: TestCase): Outcome {
  const result = test.result();
  switch (result.state) {
    case "passed":
      return { kind: "holds" };
    case "skipped":
      return { kind: "skipped", reason: result.note };
    case "failed":
    case "pending":
      return { kind: "failed" };
  }
}

function foldersIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

function testsIn(root: string, folder: string): readonly string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `${folder}/${name}`);
}
