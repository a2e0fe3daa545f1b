/**
 * One statement in another dialect, by the parser's own generator. What it makes is not believed: it has to be one
 * statement that names no other tables, and where `proves` is asked each of its words must be tested for the pair.
 */
import { transpile } from "@polyglot-sql/sdk";
import type { TranslatedText, TranslateInput } from "@gateway/core/port/sql/sqlWork.ts";
import { parsedOf, parserDialects } from "../read/parsed.ts";
import {
  dividesByTypes,
  hasDivision,
  inOwnWords,
  markedDivisions,
  writtenDivisions,
} from "./division.ts";
import { factsOf, namesOf, readFacts, readNames, type Facts, type Named } from "./facts.ts";
import { featuresOf } from "./features.ts";
import { referencesOf } from "./tables.ts";
import { isTested } from "./tested.ts";

/** Levels of nesting that the translator follows; the parser alone has its own limit of 32. */
const parserDepthMax = 400;

/** Words of the reason; a client is told no more of them. */
const reasonsMax = 3;

const guards = { complexityGuard: { maxParserDepth: parserDepthMax } };

export function translatedText(input: TranslateInput): TranslatedText {
  const { sql, source, proves, types } = input;
  if (types !== undefined && dividesByTypes(sql, source)) return translatedByTypes(input, types);
  if (!proves && !catalogTables.test(sql)) return translatedBy(input);
  const facts = readFacts(sql, source);
  if (facts === undefined) return proves ? { kind: "unread" } : translatedBy(input);
  return overCatalogs(facts) ? { kind: "asWritten" } : translatedBy(input, { facts });
}

/** The statement's nodes are needed themselves. */
function translatedByTypes(
  input: TranslateInput,
  types: NonNullable<TranslateInput["types"]>,
): TranslatedText {
  const { sql, source, proves } = input;
  const nodes = parsedOf(sql, source);
  if (nodes === undefined) return proves ? { kind: "unread" } : translatedBy(input);
  const facts = proves ? factsOf(nodes) : { ...namesOf(nodes), words: noWords };
  if (overCatalogs(facts)) return { kind: "asWritten" };
  if (!hasDivision(nodes)) return translatedBy(input, { facts });
  if (types !== "wanted") {
    return translatedBy(input, { facts, marked: markedDivisions(sql, source, types) });
  }
  const tables = referencesOf(nodes) ?? [];
  return tables.length > 0 ? { kind: "typesWanted", tables } : translatedBy(input, { facts });
}

const noWords: ReadonlySet<string> = new Set();

/** What is known of the statement; `marked`: its nodes with its divisions of whole numbers marked, where it has any. */
interface Read {
  readonly facts?: Facts;
  readonly marked?: readonly unknown[] | undefined;
}

function translatedBy(input: TranslateInput, { facts, marked }: Read = {}): TranslatedText {
  const { sql, source, target, proves, refuses } = input;
  const words = marked === undefined ? facts?.words : featuresOf(marked);
  const untested = proves ? untestedIn(words ?? noWords, source, target) : [];
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
  if (proves && !sameStatement(facts, readNames(text, target))) return { kind: "unread" };
  return { kind: "translated", sql: text };
}

function untestedIn(
  words: ReadonlySet<string>,
  source: TranslateInput["source"],
  target: TranslateInput["target"],
): readonly string[] {
  return [...words].filter((word) => !isTested(source, target, word));
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
function overCatalogs({ tables }: Named): boolean {
  return tables.length > 0 && tables.every((table) => table.includes("information_schema."));
}

function sameStatement(before: Named | undefined, after: Named | undefined): boolean {
  if (before?.kinds.length !== 1 || after?.kinds.length !== 1) return false;
  if (before.kinds[0] !== after.kinds[0]) return false;
  return JSON.stringify(before.tables) === JSON.stringify(after.tables);
}
