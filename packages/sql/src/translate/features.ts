/**
 * What a statement is made of, as words that can be listed: kinds of nodes, their parts that are filled, functions with
 * the count of their arguments, units and patterns that are written as strings. Two statements with the same words ask
 * the same things of an engine; only names, values and their order differ.
 *
 * Under `strict` a statement is translated where each of its words was tested for its pair of dialects (tested.ts).
 */
import { isEmpty, isReference, type Fields } from "../read/reader.ts";

/** The words of parsed statements, each once. */
export function featuresOf(nodes: readonly unknown[]): ReadonlySet<string> {
  const found = new Set<string>();
  visit(nodes, "", found);
  return found;
}

/** Fields whose object has them alone, so that they look like a node. */
const plainFields: ReadonlySet<string> = new Set(
  "this expressions name ctes window_name groups columns sets value type index".split(" "),
);

/** Parts that say nothing of what is asked: places, comments, names, and whether a word was written or left out. */
const silent: ReadonlySet<string> = new Set(
  (
    "span quoted name alias table schema catalog this expression expressions left right args original_name value " +
    "leading_comments trailing_comments operator_comments left_comments pre_alias_comments post_select_comments " +
    "comments column_parens alias_explicit_as alias_keyword explicit_asc use_inner_keyword use_outer_keyword " +
    "constraint_order inferred_type alias_first column_aliases columns string_quoted index is_field nullable " +
    "nesting_group integer_spelling kind_text start_side_text end_side_text ctes low high whens type over"
  ).split(" "),
);

/** Parts whose text is one of a few words. */
const worded: ReadonlySet<string> = new Set(
  "kind op style unit field literal_type data_type set_quantifier frame_kind position".split(" "),
);

function visit(value: unknown, kind: string, found: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const each of value) visit(each, kind, found);
    return;
  }
  const fields = value as Fields;
  const keys = Object.keys(fields);
  const [key = ""] = keys;
  if (keys.length !== 1 || plainFields.has(key)) {
    addParts(fields, isReference(fields) ? "table" : kind, found);
    return;
  }
  const inner = fields[key];
  const node = typeof inner === "object" && inner !== null ? (inner as Fields) : {};
  addNode(key, node, found);
  addParts(node, key, found);
}

function addNode(kind: string, node: Fields, found: Set<string>): void {
  const { name, args } = node;
  const isCall = kind === "function" || kind === "aggregate_function";
  const list: readonly unknown[] = Array.isArray(args) ? args : Object.values(node);
  const called = isCall ? String(name).toLowerCase() : kind;
  found.add(isCall ? `${called}/${list.length}` : called);
  for (const text of patternsOf(called, list)) found.add(`${called}('${text}')`);
}

function addParts(fields: Fields, kind: string, found: Set<string>): void {
  for (const [key, part] of Object.entries(fields)) {
    if (isEmpty(part) || key === "span") continue;
    if (!silent.has(key)) addPart(key, part, kind, found);
    visit(part, kind, found);
  }
  if (fields["data_type"] === "custom") {
    found.add(`${kind} type ${String(fields["name"]).toLowerCase()}`);
  }
}

function addPart(key: string, part: unknown, kind: string, found: Set<string>): void {
  const word = worded.has(key) && typeof part === "string" ? `=${part.toLowerCase()}` : "";
  found.add(`${kind}.${key}${word}`);
}

/** What strings among the arguments ask for where they are no data: a unit (`month`), a pattern of a date, of a text, a path into JSON. */
function* patternsOf(called: string, args: readonly unknown[]): Generator<string> {
  if (!reads.test(called)) return;
  for (const arg of args) {
    const literal = (arg as Fields | null)?.["literal"] as Fields | undefined;
    if (literal?.["literal_type"] === "string") yield shapeOf(called, String(literal["value"]));
  }
}

/** Functions that read a string as more than a text. */
const reads =
  /date|time|format|strf|strp|str_to|parse|to_char|to_number|trunc|diff|interval|extract|regexp|rlike|match|json|unix/;
const plainPattern = /^[\w\s.,^$*+?()|[\]-]*$/;
const bareValue = /^[\d\s:.+-]*$/;

function shapeOf(called: string, text: string): string {
  if (/regexp|rlike|match/.test(called)) return plainPattern.test(text) ? "plain pattern" : text;
  if (called.includes("json")) return text.startsWith("$") ? text.replaceAll(/\w+/g, "x") : "text";
  // A day or a moment, as `DATE '2024-01-31'` has it.
  if (bareValue.test(text)) return "value";
  const unit = text.toLowerCase();
  // Units are read alike in every case, patterns are not.
  return units.has(unit) && !/format|char|strf/.test(called) ? unit : text;
}

const units: ReadonlySet<string> = new Set(
  "year quarter month week day hour minute second millisecond microsecond dow doy epoch isodow".split(
    " ",
  ),
);
