/**
 * Divisions of whole numbers, which the types of columns tell from others: PostgreSQL and Trino leave the rest away, and
 * the other engines do not. With the types known they are marked, and written in words in which the target leaves the
 * rest away as well.
 *
 * It is no reader of types beyond that: whatever is not surely a whole number counts as something else.
 */
import { annotateTypes, generate, parse } from "@polyglot-sql/sdk";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import type { TypedTable } from "@gateway/core/port/sql/sqlWork.ts";
import { kindOf, parserDialects } from "../read/parsed.ts";

/** A node or a part of one; those of an annotated statement are changed here. */
type Fields = Record<string, unknown>;

/** The word of a marked division, in the place of `div`. */
export const wholeDivision = "div_of_integers";

const truncating: ReadonlySet<Dialect> = new Set<Dialect>(["postgres", "trino"]);

/** Whether types may change what becomes of a text with a division. */
export function dividesByTypes(sql: string, source: Dialect): boolean {
  return truncating.has(source) && sql.includes("/") && !own.test(sql);
}

/** Names that a marked division has on its way; a text that holds one itself is left alone. */
const own = /gw_(quotient|left|right)/i;

/** Whether a statement divides anything. */
export function hasDivision(nodes: readonly unknown[]): boolean {
  let found = false;
  walk(nodes, (holder) => {
    found ||= "div" in holder;
  });
  return found;
}

/**
 * The statement with every division marked that has whole numbers on both sides and can not be one by zero; `undefined`
 * where there is none. The nodes are this caller's own.
 */
export function markedDivisions(
  sql: string,
  source: Dialect,
  tables: readonly TypedTable[],
): readonly unknown[] | undefined {
  const { success, ast } = annotateTypes(sql, parserDialects[source], schemaOf(tables));
  if (!success || !Array.isArray(ast)) return undefined;
  const holders: Fields[] = [];
  walk(ast, (holder) => {
    const { left, right } = (holder["div"] ?? {}) as Fields;
    if (isWhole(left) && isNonZero(right)) holders.push(holder);
  });
  if (holders.length === 0) return undefined;
  for (const holder of holders) moved(holder, "div", wholeDivision);
  // What is left is the statement as the parser reads it.
  walk(ast, (holder) => delete holder["inferred_type"]);
  return ast;
}

/** The marked statement in the words of the target; undefined where it can not be written. */
export function writtenDivisions(
  nodes: readonly unknown[],
  source: Dialect,
  target: Dialect,
): string | undefined {
  const words = wordsIn[target];
  if (words === undefined) return undefined;
  walk(nodes, (holder) => {
    const inner = holder[wholeDivision];
    if (inner === undefined) return;
    delete holder[wholeDivision];
    const { left, right } = inner as Fields;
    Object.assign(holder, filledIn(templateOf(words.form, source), { left, right }));
  });
  const { success, sql } = generate(nodes, parserDialects[source]);
  const [text, ...more] = success ? (sql ?? []) : [];
  return more.length === 0 ? text : undefined;
}

/** What stands in a text that was made for the target, in its own words. */
export function inOwnWords(text: string, target: Dialect): string {
  const called = wordsIn[target]?.called;
  return called === undefined ? text : text.replaceAll(/\bgw_quotient\(/gi, `${called}(`);
}

/** `form`: what the source is told; `called`: the target's own function in place of the name that passes through. */
const wordsIn: Partial<Record<Dialect, { readonly form: string; readonly called?: string }>> = {
  duckdb: { form: "gw_quotient(gw_left, gw_right)", called: "divide" },
  clickhouse: { form: "gw_quotient(gw_left, gw_right)", called: "intDiv" },
  // Its DIV is an operator, which the translator writes as a function. Its quotients have four more digits, rounded.
  mysql: {
    form: "CAST(((gw_left) - MOD((gw_left), gw_right)) / gw_right AS BIGINT)",
  },
  postgres: { form: "(gw_left) / (gw_right)" },
  trino: { form: "(gw_left) / (gw_right)" },
};

function schemaOf(tables: readonly TypedTable[]) {
  return {
    tables: tables.map(({ path, columns }) => {
      // The parser finds a name of three parts only under a schema that holds the first two.
      const schema = path.slice(0, -1).join(".");
      return { name: path.at(-1) ?? "", ...(schema !== "" && { schema }), columns: [...columns] };
    }),
  };
}

const integers: ReadonlySet<unknown> = new Set(["tiny_int", "small_int", "int", "big_int"]);

function isWhole(node: unknown): boolean {
  const kind = kindOf(node);
  const inner = ((node as Fields | null)?.[kind] ?? {}) as Fields;
  switch (kind) {
    case "column":
      return integers.has((inner["inferred_type"] as Fields | undefined)?.["data_type"]);
    case "literal":
      return inner["literal_type"] === "number" && /^\d{1,9}$/.test(String(inner["value"]));
    case "paren":
    case "neg":
      return isWhole(inner["this"]);
    case "add":
    case "sub":
    case "mul":
      return isWhole(inner["left"]) && isWhole(inner["right"]);
    case "div":
      return isWhole(inner["left"]) && isNonZero(inner["right"]);
    default:
      return false;
  }
}

/** A number that is written. By zero some engines fail and others answer NULL. */
function isNonZero(node: unknown): boolean {
  if (kindOf(node) === "paren")
    return isNonZero((node as Record<string, Fields>)["paren"]?.["this"]);
  return kindOf(node) === "literal" && isWhole(node) && !/^0+$/.test(valueOf(node));
}

function valueOf(node: unknown): string {
  return String((node as Record<string, Fields>)["literal"]?.["value"]);
}

/** Each object behind the others that it holds, so that what is inside was seen before. */
function walk(value: unknown, see: (holder: Fields) => void): void {
  if (typeof value !== "object" || value === null) return;
  for (const part of Object.values(value)) walk(part, see);
  if (!Array.isArray(value)) see(value as Fields);
}

function moved(holder: Fields, from: string, to: string): void {
  holder[to] = holder[from];
  delete holder[from];
}

/** The node of an expression with the two names in it. */
function templateOf(form: string, source: Dialect): Fields {
  const { ast } = parse(`SELECT ${form}`, parserDialects[source]);
  const [statement] = ast as unknown as readonly { select: { expressions: readonly Fields[] } }[];
  const [expression] = statement?.select.expressions ?? [];
  if (expression === undefined) throw new Error("a form that is no expression");
  return expression;
}

/** A column of that name stands for the node. */
function filledIn(node: unknown, sides: { left: unknown; right: unknown }): Fields {
  return filled(node, sides) as Fields;
}

function filled(node: unknown, sides: { left: unknown; right: unknown }): unknown {
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map((each) => filled(each, sides));
  const name = (node as { column?: { name?: Fields } }).column?.name?.["name"];
  if (name === "gw_left") return sides.left;
  if (name === "gw_right") return sides.right;
  return Object.fromEntries(Object.entries(node).map(([key, part]) => [key, filled(part, sides)]));
}
