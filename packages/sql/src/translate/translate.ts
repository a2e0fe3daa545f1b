/**
 * One statement in another dialect, by the parser's own generator. What it makes is not believed: it has to be one
 * statement that names no other tables, and where `proves` is asked each of its words must be tested for the pair.
 */
import { transpile } from "@polyglot-sql/sdk";
import type { TranslatedText, TranslateInput } from "@gateway/core/port/sql/sqlWork.ts";
import { kindOf, parsedOf, parserDialects } from "../read/parsed.ts";
import { featuresOf } from "./features.ts";
import { tablesOf } from "./tables.ts";
import { isTested } from "./tested.ts";

/** Levels of nesting that the translator follows; the parser alone has its own limit of 32. */
const parserDepthMax = 400;

/** Words of the reason; a client is told no more of them. */
const reasonsMax = 3;

const guards = { complexityGuard: { maxParserDepth: parserDepthMax } };

export function translatedText(input: TranslateInput): TranslatedText {
  const { sql, source, target, proves } = input;
  const reads = proves || catalogTables.test(sql);
  const named = reads ? parsedOf(sql, source) : undefined;
  if (proves && named === undefined) return { kind: "unread" };
  if (named !== undefined && overCatalogs(named)) return { kind: "asWritten" };
  if (proves && named !== undefined) {
    const untested = [...featuresOf(named)].filter((word) => !isTested(source, target, word));
    if (untested.length > 0) return { kind: "untested", words: untested.slice(0, reasonsMax) };
  }
  const text = inWords(input, input.refuses ? "raise" : "ignore");
  if (text === undefined)
    return {
      kind: input.refuses && inWords(input, "ignore") !== undefined ? "unsupported" : "unread",
    };
  if (proves && !sameStatement(named ?? [], parsedOf(text, target))) return { kind: "unread" };
  return { kind: "translated", sql: text };
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
