/**
 * Replaces Trino's own tables in a statement by subqueries: `system.jdbc.tables`,
 * `catalog.information_schema.columns`. Everything else of the statement is the engine's.
 *
 * The lexer finds the names, and only one where a table stands is replaced: strings, comments and
 * quoted names of another meaning stay as they are.
 */
import type { Parameter } from "@gateway/core/type/type.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { asciiLower, openSql, tokenText, type SqlCursor } from "@gateway/core/sql/lex/cursor.ts";
import { informationTable, systemTable, type SystemScope } from "./systemTables.ts";

/** What the session says about names. */
export interface NameScope {
  /** The catalogs that it may see. */
  readonly catalogs: readonly string[];
  /** Its own catalog. */
  readonly catalog: string | undefined;
}

/** A statement and the values of its parameters. */
export interface Rewritten {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** Longer texts carry data. Tools ask short questions, so longer texts are not searched. */
const textLengthMax = 64 * 1024;
const mayName = /system|information_schema/i;
/** Tables replaced in one statement; further ones stay. Each may add a value per catalog. */
const replacedMax = 32;

/** False for a statement that surely names none of Trino's tables. */
export function mayNameSystem(sql: string): boolean {
  return sql.length <= textLengthMax && mayName.test(sql);
}

/** The statement with subqueries for Trino's tables; undefined when it names none. For engines that have none of them. */
export function rewriteSystem(
  sql: string,
  parameters: readonly Parameter[],
  names: NameScope,
): Rewritten | undefined {
  if (!mayNameSystem(sql)) return undefined;
  const added: Parameter[] = [...parameters];
  const scope: SystemScope = {
    catalogs: names.catalogs,
    text: (value) => {
      added.push({ type: { kind: "text" }, value });
      return `$${added.length}`;
    },
  };
  const pieces: string[] = [];
  let copied = 0;
  for (const table of tablesIn(sql).slice(0, replacedMax)) {
    const source = sourceOf(table.parts, scope, names);
    if (source === undefined) continue;
    // Only known names come here, so none needs escaping.
    const alias = table.aliased ? "" : ` AS "${table.parts.at(-1)}"`;
    pieces.push(sql.slice(copied, table.start), source.startsWith("(") ? source + alias : source);
    copied = table.end;
  }
  if (copied === 0) return undefined;
  return { sql: pieces.join("") + sql.slice(copied), parameters: added };
}

function sourceOf(
  parts: readonly string[],
  scope: SystemScope,
  { catalog, catalogs }: NameScope,
): string | undefined {
  const [table = "", schema = "", first] = parts.toReversed();
  if (first === "system" && schema !== "information_schema") {
    const source = systemTable(schema, table);
    return source === undefined ? undefined : `(${source(scope)})`;
  }
  if (schema !== "information_schema") return undefined;
  const source = informationTable(table);
  if (source !== undefined) return `(${source(scope, first ?? known(catalog, catalogs))})`;
  // The engine has one schema of that name, in whatever catalog.
  return first === undefined || !/^\w+$/.test(table) ? undefined : `information_schema.${table}`;
}

/** The session's catalog, unless the engine does not have it. */
function known(catalog: string | undefined, catalogs: readonly string[]): string | undefined {
  return catalog !== undefined && catalogs.includes(catalog) ? catalog : undefined;
}

interface TableReference {
  readonly parts: readonly string[];
  readonly start: number;
  readonly end: number;
  /** The statement gives it a name of its own. */
  readonly aliased: boolean;
}

/** Words that a name of a table may follow. */
const before: ReadonlySet<string> = new Set(["from", "join", ","]);

/** Words that follow a table and are no name for it. */
const after: ReadonlySet<string> = new Set(
  "where order group having limit fetch offset union except intersect join left right full inner cross natural on using window tablesample for".split(
    " ",
  ),
);

/** Names of two or three parts where a table stands. */
function tablesIn(sql: string): readonly TableReference[] {
  const cursor = openSql(sql, "trino");
  const references: TableReference[] = [];
  let last = "";
  let there = nextSignificant(cursor);
  while (there) {
    if (!before.has(last) || !isName(cursor)) {
      last = asciiLower(tokenText(cursor));
      there = nextSignificant(cursor);
      continue;
    }
    const { start } = cursor;
    const { parts, end, more } = nameAt(cursor);
    const aliased = more && isName(cursor) && !after.has(asciiLower(tokenText(cursor)));
    if (parts.length === 2 || parts.length === 3) references.push({ parts, start, end, aliased });
    last = "";
    there = more;
  }
  return references;
}

/** The name the cursor stands on; afterwards the cursor stands behind it. */
function nameAt(cursor: SqlCursor): {
  readonly parts: readonly string[];
  readonly end: number;
  readonly more: boolean;
} {
  const parts = [nameText(cursor)];
  let { end } = cursor;
  let more = nextSignificant(cursor);
  while (more && cursor.kind === "dot") {
    more = nextSignificant(cursor);
    if (!more || !isName(cursor)) break;
    parts.push(nameText(cursor));
    end = cursor.end;
    more = nextSignificant(cursor);
  }
  return { parts, end, more };
}

function isName({ kind }: SqlCursor): boolean {
  return kind === "word" || kind === "quotedIdentifier";
}

/** Trino's names have no case, quoted or not. */
function nameText(cursor: SqlCursor): string {
  const text = asciiLower(tokenText(cursor));
  return cursor.kind === "word" ? text : text.slice(1, -1).replaceAll('""', '"');
}
