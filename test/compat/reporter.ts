/**
 * Keeps `docs/reference/compatibility.md` what the suites say, from the run of `npm test` itself: no
 * test runs twice for it.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";
import { compatibilityPage, wireOf } from "./page.ts";
import { fileOf, statedIn, statingFiles, type Stated } from "./results.ts";
import { realCases, unsupportedIn } from "./sources.ts";
import { recordedSuites } from "./suites.ts";

/** The page, from the root of the repository. */
export const pagePath = "docs/reference/compatibility.md";

export interface ReporterOptions {
  /** `check` compares with the page that is there and fails the run; `write` replaces it. */
  readonly mode?: "check" | "write";
}

/**
 * Says nothing when only some of the files took part, or tests were chosen by name. Fails the run when
 * a test that the page is made of failed or gave no reason for its skip, and when the page is stale.
 */
export class CompatibilityReporter implements Reporter {
  readonly #mode: "check" | "write";
  #vitest: Vitest | undefined;

  constructor({ mode = "check" }: ReporterOptions = {}) {
    this.#mode = mode;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const vitest = this.#vitest;
    if (vitest === undefined || vitest.config.testNamePattern !== undefined) return;
    const { root } = vitest.config;
    const verdict = await verdictOf(root, modules);
    switch (verdict.kind) {
      case "partial":
        if (this.#mode === "check") return;
        this.#fail(verdict.missing.map((file) => `${file} did not take part`));
        return;
      case "refused":
        this.#fail(verdict.lines);
        return;
      case "page":
        this.#compare(join(root, pagePath), verdict.text);
    }
  }

  #compare(file: string, text: string): void {
    const stands = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    if (stands === text) return;
    if (this.#mode === "check") {
      const line = firstDifference(stands?.split("\n") ?? [], text.split("\n"));
      this.#fail([`it is not what the suites say; run \`npm run docs:compatibility\`\n  ${line}`]);
      return;
    }
    writeFileSync(file, text);
    this.#vitest?.logger.log(`${pagePath}: written`);
  }

  #fail(lines: readonly string[]): void {
    for (const line of lines) this.#vitest?.logger.error(`${pagePath}: ${line}`);
    process.exitCode = 1;
  }
}

function firstDifference(stands: readonly string[], said: readonly string[]): string {
  const differs = said.findIndex((line, index) => line !== stands[index]);
  const at = differs < 0 ? said.length : differs;
  const quoted = (line: string | undefined) => (line === undefined ? "nothing" : `"${line}"`);
  return `line ${at + 1} says ${quoted(stands[at])}, the suites ${quoted(said[at])}`;
}

export type Verdict =
  /** Some of the files did not run, so there is nothing to compare. */
  | { readonly kind: "partial"; readonly missing: readonly string[] }
  | { readonly kind: "refused"; readonly lines: readonly string[] }
  | { readonly kind: "page"; readonly text: string };

/** The page that a run gives, or why it gives none. */
export async function verdictOf(root: string, modules: readonly TestModule[]): Promise<Verdict> {
  const byFile = new Map(modules.map((module) => [fileOf(root, module), module]));
  const files = statingFiles(root);
  const missing = files.filter((file) => !byFile.has(file));
  if (missing.length > 0) return { kind: "partial", missing };
  const parts = [...byFile].filter(([file]) => files.includes(file));
  const failed = parts.filter(([, module]) => !module.ok()).map(([file]) => `${file} failed`);
  // What stands behind a failed hook is skipped without a reason, so what failed is said alone.
  if (failed.length > 0) return { kind: "refused", lines: failed.toSorted() };
  const stated = parts
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([file, module]) => statedIn(file, module));
  const { text, problems } = await pageOf(root, stated);
  const lines = [...problems, ...unreasoned(stated)];
  return lines.length > 0 ? { kind: "refused", lines } : { kind: "page", text };
}

/** The page of these results, and what stands in its way. */
async function pageOf(
  root: string,
  stated: readonly Stated[],
): Promise<{ readonly text: string; readonly problems: readonly string[] }> {
  const frontends = unsupportedIn(root, "packages/frontends/src", "frontend.ts");
  const engines = unsupportedIn(root, "packages/engines/src", "engine.ts");
  const wires = frontends.found.map(({ readme }) => posix.basename(posix.dirname(readme)));
  const homeless = [...new Set(stated.map(({ file }) => file))]
    .filter((file) => file.startsWith("test/") && wireOf(file, wires) === undefined)
    .map((file) => `${file}: its name begins with no frontend's folder`);
  const text = compatibilityPage({
    stated,
    frontends: frontends.found,
    engines: engines.found,
    suites: recordedSuites(root),
    ...(await realCases(root)),
  });
  return { text, problems: [...frontends.problems, ...engines.problems, ...homeless] };
}

function unreasoned(stated: readonly Stated[]): readonly string[] {
  return stated
    .filter(({ outcome }) => outcome.kind === "skipped" && outcome.reason === undefined)
    .map(
      ({ file, groups, title }) =>
        `skipped without a reason: ${[file, ...groups, title].join(" > ")}`,
    );
}

// oxlint-disable-next-line import/no-default-export -- vitest takes the default export of a reporter
export default CompatibilityReporter;
