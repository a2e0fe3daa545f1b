/**
 * What a proof asks of a statement: what it is, the tables it names and the words it is made of. Texts that differ in
 * plain numbers beside a comparison have the same facts, so the parser, which takes most of the time of a proof, is
 * asked once for all of them.
 */
import { formOf } from "@gateway/core/police/known/form.ts";
import { Recent } from "@gateway/core/police/recent.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { kindOf, parsedOf } from "../read/parsed.ts";
import { featuresOf } from "./features.ts";
import { tablesOf } from "./tables.ts";

/** What has to be the same before and after a translation. */
export interface Named {
  /** Of each statement. */
  readonly kinds: readonly string[];
  readonly tables: readonly string[];
}

export interface Facts extends Named {
  readonly words: ReadonlySet<string>;
}

/** Forms that are remembered of either kind, and UTF-16 units of the longest text: some megabytes in all. */
const formsMax = 500;
const lengthMax = 4_096;

/** Statements in which a number beside a comparison is a value; in others it may be a property. */
const rememberedKinds: ReadonlySet<string> = new Set(
  "select union except intersect insert update delete".split(" "),
);

const known = new Recent<Facts>(formsMax);
const knownNames = new Recent<Named>(formsMax);

/** Undefined for a text that is not understood. */
export function readFacts(sql: string, dialect: Dialect): Facts | undefined {
  return remembered(known, { sql, dialect }, factsOf);
}

/** The same without the words. */
export function readNames(sql: string, dialect: Dialect): Named | undefined {
  return remembered(knownNames, { sql, dialect }, namesOf);
}

export function factsOf(nodes: readonly unknown[]): Facts {
  return { ...namesOf(nodes), words: featuresOf(nodes) };
}

export function namesOf(nodes: readonly unknown[]): Named {
  return { kinds: nodes.map(kindOf), tables: tablesOf(nodes) };
}

function remembered<Found extends Named>(
  memory: Recent<Found>,
  { sql, dialect }: { readonly sql: string; readonly dialect: Dialect },
  find: (nodes: readonly unknown[]) => Found,
): Found | undefined {
  const key = sql.length > lengthMax ? undefined : keyOf(sql, dialect);
  const before = key === undefined ? undefined : memory.get(key);
  if (before !== undefined) return before;
  const nodes = parsedOf(sql, dialect);
  if (nodes === undefined) return undefined;
  const found = find(nodes);
  const remembers = found.kinds.every((kind) => rememberedKinds.has(kind));
  if (key !== undefined && remembers) memory.put(key, found);
  return found;
}

/** Undefined for a text without such numbers, or one that a lexer may read otherwise. */
function keyOf(sql: string, dialect: Dialect): string | undefined {
  const form = formOf(sql, dialect);
  if (form === undefined) return undefined;
  // A string may be a word of the statement, as the name of a file's format is.
  const strings = form.values
    .map(({ start, end }) => sql.slice(start, end))
    .filter((value) => value.startsWith("'"));
  // No text with a form has the character between them.
  return [dialect, form.key, ...strings].join("\u0003");
}
