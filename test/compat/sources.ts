/** What the page copies instead of running: tables of the folders' README.md, and the cases of `npm run test:real`. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The part of a folder's README.md that says what is not supported. */
export interface Unsupported {
  /** From the root of the repository. */
  readonly readme: string;
  readonly title: string;
  /** The lines of the table, as they stand there but for the padding. */
  readonly table: readonly string[];
}

/** What one tool runs. */
export interface RealCases {
  readonly tool: string;
  /** The engine behind the gateway. */
  readonly behind: string;
  readonly titles: readonly string[];
}

/** Tests of a foreign suite that say nothing about the gateway. */
export interface LeftOut {
  readonly tool: string;
  readonly reasons: Readonly<Record<string, string>>;
}

const heading = "## Not supported";
const casesFolder = "test/real/cases";

/** The tables of all folders with the mark file (`engine.ts`, `frontend.ts`), by folder name. A folder without one is a problem. */
export function unsupportedIn(
  root: string,
  folder: string,
  mark: string,
): { readonly found: readonly Unsupported[]; readonly problems: readonly string[] } {
  const readmes = readdirSync(join(root, folder))
    .filter((name) => existsSync(join(root, folder, name, mark)))
    .toSorted()
    .map((name) => `${folder}/${name}/README.md`);
  const all = readmes.map((readme) => unsupportedOf(readme, textOf(join(root, readme))));
  return {
    found: all.filter(({ table }) => table.length > 2),
    problems: all
      .filter(({ table }) => table.length <= 2)
      .map(({ readme }) => `${readme}: no table under "${heading}"`),
  };
}

/** The table under the heading; empty where there is none. */
export function unsupportedOf(readme: string, text: string): Unsupported {
  const lines = text.split("\n");
  const start = lines.indexOf(heading);
  const after = start < 0 ? [] : lines.slice(start + 1);
  const end = after.findIndex((line) => line.startsWith("#"));
  const table = (end < 0 ? after : after.slice(0, end)).filter((line) => line.startsWith("|"));
  const title = lines.find((line) => line.startsWith("# "))?.slice(2) ?? readme;
  return { readme, title, table: table.map(unpadded) };
}

/**
 * The cases that `test/real/run.mjs` lists, by tool. The modules are read and none of their functions
 * is called; `run.mjs` itself would run them, so its imports are read as text.
 */
export async function realCases(
  root: string,
): Promise<{ readonly cases: readonly RealCases[]; readonly leftOut: readonly LeftOut[] }> {
  const run = textOf(join(root, "test/real/run.mjs"));
  const cases: RealCases[] = [];
  const leftOut: LeftOut[] = [];
  for (const [, names = "", file = ""] of run.matchAll(importOfCases)) {
    const url = pathToFileURL(join(root, casesFolder, file)).href;
    const module = (await import(/* @vite-ignore */ url)) as Readonly<Record<string, unknown>>;
    const found = names
      .split(",")
      .flatMap((name) => module[name.trim()] ?? [])
      .filter(isCases);
    cases.push(
      ...found.map(({ tool, behind = quickstartEngine, cases: titled }) => ({
        tool,
        behind,
        titles: Object.keys(titled),
      })),
    );
    const reasons = module["doesNotApply"];
    const [first] = found;
    if (isReasons(reasons) && first !== undefined) leftOut.push({ tool: first.tool, reasons });
  }
  return { cases: cases.toSorted(byTool), leftOut: leftOut.toSorted(byTool) };
}

/** What stands behind the quick start, before which cases run that say nothing else. */
const quickstartEngine = "DuckDB, embedded";
const importOfCases = /import \{([^}]+)\} from "\.\/cases\/([\w.]+)"/g;

/** Pads nothing, so that a wider row elsewhere in the README changes no line of the page. */
function unpadded(line: string): string {
  if (/^[|\s:-]+$/.test(line)) return line.replace(/\s*:?-+:?\s*/g, " --- ");
  return line.replace(/ +\|/g, " |").replace(/\| +/g, "| ").trim();
}

function byTool(left: { readonly tool: string }, right: { readonly tool: string }): number {
  if (left.tool === right.tool) return 0;
  return left.tool < right.tool ? -1 : 1;
}

interface ToolCases {
  readonly tool: string;
  readonly behind?: string;
  readonly cases: object;
}

function isCases(value: unknown): value is ToolCases {
  if (!isObject(value)) return false;
  return typeof value["tool"] === "string" && isObject(value["cases"]);
}

function isReasons(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((reason) => typeof reason === "string");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
