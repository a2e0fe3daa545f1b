/**
 * One statement in another dialect, by the parser's own generator. What it makes is not believed: it has to be one
 * statement that names no other tables, and where `proves` is asked each of its words must be tested for the pair.
 */
import { transpile } from "@polyglot-sql/sdk";
import type { TranslatedText, TranslateInput } from "@gateway/core/port/sql/sqlWork.ts";
import { kindOf, parsedOf, parserDialects } from "../read/parsed.ts";
import {
  dividesByTypes,
  hasDivision,
  inOwnWords,
  markedDivisions,
  writtenDivisions,
} from "./division.ts";
import { featuresOf } from "./features.ts";
import { referencesOf, tablesOf } from "./tables.ts";
import { isTested } from "./tested.ts";

/** Levels of nesting that the translator follows; the parser alone has its own limit of 32. */
const parserDepthMax = 400;

/** Words of the reason; a client is told no more of them. */
const reasonsMax = 3;

const guards = { complexityGuard: { maxParserDepth: parserDepthMax } };

export function translatedText(input: TranslateInput): TranslatedText {
  const { sql, source, proves, types } = input;
  const byTypes = types !== undefined && dividesByTypes(sql, source);
  const reads = proves || byTypes || catalogTables.test(sql);
  const named = reads ? parsedOf(sql, source) : undefined;
  if (named === undefined) return proves ? { kind: "unread" } : translatedBy(input, {});
  if (overCatalogs(named)) return { kind: "asWritten" };
  if (!byTypes || !hasDivision(named)) return translatedBy(input, { named });
  if (types !== "wanted") {
    return translatedBy(input, { named, marked: markedDivisions(sql, source, types) });
  }
  const tables = referencesOf(named) ?? [];
  return tables.length > 0 ? { kind: "typesWanted", tables } : translatedBy(input, { named });
}

/** The statement's nodes where it was read; `marked`: with its divisions of whole numbers marked, where it has any. */
interface Read {
  readonly named?: readonly unknown[];
  readonly marked?: readonly unknown[] | undefined;
}

function translatedBy(input: TranslateInput, { named = [], marked }: Read): TranslatedText {
  const { sql, source, target, proves, refuses } = input;
  const untested = proves ? untestedIn(marked ?? named, source, target) : [];
  if (untested.length > 0) return { kind: "untested", words: untested.slice(0, reasonsMax) };
  const asked = marked === undefined ? sql : writtenDivisions(marked, source, target);
  if (asked === undefined) return { kind: "unread" };
  const written = { ...input, sql: asked };
  const made = inWords(written, refuses ? "raise" : "ignore");
  if (made === undefined) {
    const unsupported = refuses && inWords(written, "ignore") !== undefined;
    return { kind: unsupported ? "unsupported" : "unread" };
  }
  const text = marked === undefined ? made : inOwnWords(made, target);
  if (proves && !sameStatement(named, parsedOf(text, target))) return { kind: "unread" };
  return { kind: "translated", sql: text };
}

function untestedIn(
  nodes: readonly unknown[],
  source: TranslateInput["source"],
  target: TranslateInput["target"],
): readonly string[] {
  return [...featuresOf(nodes)].filter((word) => !isTested(source, target, word));
}

/** `raise`: not where the translator says itself that the target has nothing of the same meaning. */
function inWords(
  { sql, source, target }: TranslateInput,
  unsupportedLevel: "raise" | "ignore",
): string | undefined {
  const made = transpile(sql, parserDialects[source], parserDialects[target], {
    ...guards,
    unsupportedLevel,
  });
  const [text, ...more] = made.success ? (made.sql ?? []) : [];
  return more.length === 0 ? text : undefined;
}

const catalogTables = /information_schema/i;

/** Every engine with these tables has them as the standard says, and frontends ask for them in its words. */
function overCatalogs(nodes: readonly unknown[]): boolean {
  const tables = tablesOf(nodes);
  return tables.length > 0 && tables.every((table) => table.includes("information_schema."));
}

function sameStatement(before: readonly unknown[], after: readonly unknown[] | undefined): boolean {
  if (after === undefined || before.length !== 1 || after.length !== 1) return false;
  if (kindOf(before[0]) !== kindOf(after[0])) return false;
  return JSON.stringify(tablesOf(before)) === JSON.stringify(tablesOf(after));
}
