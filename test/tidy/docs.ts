/** Ties the prose to the program: codes, metrics, links and paths that a page names must exist. */
import { posix } from "node:path";
import { codeOf } from "./sources.ts";
import { filesOf, foldersOf, sourcesOf, type Tree } from "./tree.ts";

/** The page with one heading per error code. */
export const errorsPage = "docs/reference/errors.md";
/** The page that names every metric. */
export const metricsPage = "docs/reference/metrics.md";

/** Strings that look like a metric and are none. */
const notMetrics = new Set([
  // The MySQL connection attribute and session variable that carry tags.
  "gateway_tags",
  // The channel on which a database says that the configuration moved.
  "gateway_config",
]);

/** Codes without a heading on the errors page, and headings that are no code. */
export function errorProblems(codes: readonly string[], tree: Tree): readonly string[] {
  const page = tree.get(errorsPage);
  if (page === undefined) return codes.length === 0 ? [] : [`${errorsPage} is missing`];

  const headings = proseLinesOf(page).flatMap((line) => {
    const code = /^#{2,6} +`?([a-z]\w*(?:\.\w+)+)`?(?:\s|$)/.exec(line)?.[1];
    return code === undefined ? [] : [code];
  });
  return [
    ...missingFrom(codes, headings).map((code) => `${errorsPage}: no heading for ${code}`),
    ...missingFrom(headings, codes).map((code) => `${errorsPage}: ${code} is not in the catalogue`),
  ];
}

/** Metrics of the code that the metrics page does not name, and names on it that no code has. */
export function metricProblems(tree: Tree): readonly string[] {
  const used = [...sourcesOf(tree).values()].flatMap((text) =>
    [...codeOf(text).matchAll(/["'`](gateway_[a-z0-9_]+)["'`]/g)].flatMap(([, name]) =>
      name === undefined || notMetrics.has(name) ? [] : [name],
    ),
  );
  const page = tree.get(metricsPage);
  if (page === undefined) return used.length === 0 ? [] : [`${metricsPage} is missing`];

  const named = page.match(/\bgateway_[a-z0-9_]+/g) ?? [];
  const known = new Set(used.flatMap(seriesOf));
  return [
    ...missingFrom(used, named).map((name) => `${metricsPage}: ${name} is not named`),
    ...missingFrom(named, [...known, ...notMetrics]).map(
      (name) => `${metricsPage}: no code has ${name}`,
    ),
  ];
}

/** Markdown files that have not exactly one title. */
export function titleProblems(tree: Tree): readonly string[] {
  return pages(tree).flatMap(([path, text]) => {
    const titles = proseLinesOf(text).filter((line) => line.startsWith("# ")).length;
    return titles === 1 ? [] : [`${path}: ${titles} titles (lines that start with "# ")`];
  });
}

/** Relative links, and paths in backticks, that lead nowhere. */
export function pathProblems(tree: Tree): readonly string[] {
  const folders = foldersOf(tree);
  const exists = (path: string): boolean => {
    const bare = path.replace(/\/$/, "");
    return bare === "." || tree.has(bare) || folders.has(bare) || bare.includes("/dist");
  };
  return pages(tree).flatMap(([path, text]) => {
    const prose = proseLinesOf(text).join("\n");
    const links = [...prose.matchAll(/\]\((?![a-z]+:|#)([^)\s#]+)(?:#[^)]*)?\)/g)].map(([, link]) =>
      posix.join(posix.dirname(path), link ?? ""),
    );
    const named = [...prose.matchAll(/`((?:packages|test|docs|\.github|\.ci)\/[\w./@-]+)`/g)].map(
      ([, name]) => name ?? "",
    );
    return [...new Set([...links, ...named])]
      .filter((target) => !exists(target))
      .map((target) => `${path}: ${target} does not exist`);
  });
}

/** A histogram is seen by its scraper under three more names. */
function seriesOf(metric: string): readonly string[] {
  return [metric, `${metric}_bucket`, `${metric}_sum`, `${metric}_count`];
}

function pages(tree: Tree): readonly (readonly [string, string])[] {
  return [...filesOf(tree, (path) => path.endsWith(".md"))];
}

/** The lines outside fenced code, where a `#` is a comment. */
function proseLinesOf(text: string): readonly string[] {
  return text.replace(/^(`{3,}|~{3,})[\s\S]*?^\1[^\n]*$/gm, "").split("\n");
}

function missingFrom(wanted: readonly string[], present: readonly string[]): readonly string[] {
  const known = new Set(present);
  return [...new Set(wanted)].filter((name) => !known.has(name));
}
