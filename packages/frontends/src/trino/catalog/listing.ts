/**
 * The `SHOW` family for engines that are not Trino: from what the door knows, or as a query over
 * `information_schema`, which the engines here have in common. Values are parameters, never text.
 */
import type { Door } from "@gateway/core/port/door.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { described, resultOf, rows, textColumn, type Handling } from "../read/handling.ts";
import { quoted, showCreateTable } from "./createTable.ts";
import { isLike } from "./like.ts";
import { timeZoneProperty, timeZoneSetting } from "../session/session.ts";
import type { TokenReader } from "../read/tokens.ts";
import { displayName } from "../value/types.ts";

type Listings = Pick<Door, "catalogs" | "describe">;

/** A `SHOW` statement behind its first word; undefined for one that the engine answers. */
export function show(reader: TokenReader, session: Session, door: Listings): Handling | undefined {
  if (reader.word("SESSION")) return showSession(reader, session);
  if (reader.word("CATALOGS")) return showCatalogs(reader, session, door);
  if (reader.word("SCHEMAS")) return showSchemas(reader, session, door);
  if (reader.word("TABLES")) return showTables(reader, session, door);
  if (reader.word("COLUMNS")) return from(reader) ? showColumns(reader, door) : undefined;
  if (reader.words("CREATE", "TABLE")) return showCreate(reader, session, door);
  if (reader.word("FUNCTIONS")) return showNoFunctions(reader);
  return showRoles(reader, session);
}

function showCreate(reader: TokenReader, session: Session, door: Listings): Handling | undefined {
  const parts = nameParts(reader);
  return parts !== undefined && reader.atEnd() ? showCreateTable(parts, session, door) : undefined;
}

function showNoFunctions(reader: TokenReader): Handling | undefined {
  const named = from(reader) ? nameParts(reader) : [];
  const like = likeOf(reader);
  return named !== undefined && like !== undefined && reader.atEnd() ? showFunctions() : undefined;
}

const functionColumns = [
  ...["Function", "Return Type", "Argument Types", "Function Type"].map(textColumn),
  columnOf("Deterministic", { kind: "boolean" }),
  textColumn("Description"),
];

/** No engine lists its functions in a common way, so none is shown, and a warning says so. */
function showFunctions(): Handling {
  return { kind: "answer", events: noFunctions, headers: [] };
}

async function* noFunctions(): ResultStream {
  const text = "The functions of the engine are not listed.";
  yield { kind: "notice", code: "NOT_LISTED", text };
  yield* resultOf(functionColumns, []);
}

/** The catalog of roles that belong to no catalog: the login's. */
const rolesCatalog = "system";

/** `SHOW ROLES`, `SHOW CURRENT ROLES` and `SHOW ROLE GRANTS`; undefined for anything else. */
function showRoles(reader: TokenReader, { identity }: Session): Handling | undefined {
  const heading = headingOf(reader);
  if (heading === undefined) return undefined;
  const catalog = from(reader) ? reader.name() : rolesCatalog;
  if (catalog === undefined || !reader.atEnd()) return undefined;
  const names = catalog === rolesCatalog ? identity.roles.toSorted() : [];
  return rows(
    [textColumn(heading)],
    names.map((name) => [name]),
  );
}

function headingOf(reader: TokenReader): string | undefined {
  if (reader.word("ROLES") || reader.words("CURRENT", "ROLES")) return "Role";
  return reader.words("ROLE", "GRANTS") ? "Role Grants" : undefined;
}

/** The columns of a table, named where the reader stands; undefined when that is no plain name. */
export function showColumns(reader: TokenReader, door: Listings): Handling | undefined {
  const table = reader.rest().replace(/;\s*$/, "");
  const parts = nameParts(reader);
  if (parts === undefined || parts.length > 3) return undefined;
  const like = likeOf(reader);
  if (like === undefined || !reader.atEnd()) return undefined;
  const name = like.kind === "all" ? table : parts.map(quoted).join(".");
  const columns = ["Column", "Type", "Extra", "Comment"].map(textColumn);
  const shown = (description: Description) =>
    description.columns
      .filter((column) => like.fits(column.name))
      .map((column) => [column.name, displayName(column.type), "", ""]);
  // The types are the ones a query over the table would show, which no listing of an engine has.
  return described(`SELECT * FROM ${name}`, { columns, rows: shown }, door);
}

function showSession(reader: TokenReader, session: Session): Handling | undefined {
  const like = likeOf(reader);
  if (like === undefined || !reader.atEnd()) return undefined;
  const columns = ["Name", "Value", "Default", "Type", "Description"].map(textColumn);
  const values = [...session.settings]
    .map(([name, value]) => [name === timeZoneSetting ? timeZoneProperty : name, value] as const)
    .filter(([name]) => like.fits(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [name, value, "", "varchar", ""]);
  return rows(columns, values);
}

function showCatalogs(reader: TokenReader, session: Session, door: Listings): Handling | undefined {
  const like = likeOf(reader);
  if (like === undefined || !reader.atEnd()) return undefined;
  const names = door.catalogs(session).filter((name) => like.fits(name));
  return rows(
    [textColumn("Catalog")],
    names.toSorted().map((name) => [name]),
  );
}

function showSchemas(reader: TokenReader, session: Session, door: Listings): Handling | undefined {
  const named = from(reader) ? nameParts(reader) : [];
  const like = likeOf(reader);
  if (named === undefined || named.length > 1 || like === undefined || !reader.atEnd()) {
    return undefined;
  }
  const bindings = noBindings();
  const conditions = [
    catalogCondition("catalog_name", named[0] ?? catalogOf(session, door), bindings),
    like.condition("schema_name", bindings),
  ];
  return listed(
    { column: "schema_name", heading: "Schema", table: "schemata" },
    conditions,
    bindings,
  );
}

function showTables(reader: TokenReader, session: Session, door: Listings): Handling | undefined {
  const named = from(reader) ? nameParts(reader) : [];
  const like = likeOf(reader);
  if (named === undefined || named.length > 2 || like === undefined || !reader.atEnd()) {
    return undefined;
  }
  const bindings = noBindings();
  const schema = named.at(-1) ?? session.schema;
  const catalog = named.length === 2 ? named[0] : catalogOf(session, door);
  const conditions = [
    catalogCondition("table_catalog", catalog, bindings),
    schema === undefined
      ? "table_schema = current_schema()"
      : `table_schema = ${bindings.text(schema)}`,
    like.condition("table_name", bindings),
  ];
  return listed({ column: "table_name", heading: "Table", table: "tables" }, conditions, bindings);
}

/** Values that the query refers to, in order. */
interface Bindings {
  readonly parameters: readonly Parameter[];
  /** Adds a text value and returns its placeholder. */
  text(value: string): string;
}

function noBindings(): Bindings {
  const parameters: Parameter[] = [];
  return {
    parameters,
    text: (value) => {
      parameters.push({ type: { kind: "text" }, value });
      return `$${parameters.length}`;
    },
  };
}

interface ListedName {
  readonly column: string;
  readonly heading: string;
  readonly table: string;
}

function listed(
  { column, heading, table }: ListedName,
  conditions: readonly (string | undefined)[],
  bindings: Bindings,
): Handling {
  const wanted = conditions.filter((condition) => condition !== undefined);
  const where = wanted.length === 0 ? "" : ` WHERE ${wanted.join(" AND ")}`;
  const sql = `SELECT ${column} AS "${heading}" FROM information_schema.${table}${where} ORDER BY 1`;
  return { kind: "run", sql, parameters: bindings.parameters, verbatim: false, headers: [] };
}

function catalogCondition(
  column: string,
  catalog: string | undefined,
  bindings: Bindings,
): string | undefined {
  return catalog === undefined ? undefined : `${column} = ${bindings.text(catalog)}`;
}

function catalogOf(session: Session, door: Listings): string | undefined {
  return session.catalog ?? door.catalogs(session)[0];
}

function from(reader: TokenReader): boolean {
  return reader.word("FROM") || reader.word("IN");
}

/** `a.b.c` as its names. */
function nameParts(reader: TokenReader): readonly string[] | undefined {
  const parts: string[] = [];
  do {
    const part = reader.name();
    if (part === undefined) return undefined;
    parts.push(part);
  } while (reader.mark("."));
  return parts;
}

/** A `LIKE` clause, or everything. */
interface Like {
  readonly kind: "all" | "pattern";
  fits(name: string): boolean;
  condition(column: string, bindings: Bindings): string | undefined;
}

const everything: Like = { kind: "all", fits: () => true, condition: () => undefined };

/** `LIKE 'p' ESCAPE 'e'`, or nothing; undefined when it is neither. */
function likeOf(reader: TokenReader): Like | undefined {
  if (!reader.word("LIKE")) return everything;
  const pattern = reader.string();
  const escape = reader.word("ESCAPE") ? reader.string() : "";
  if (pattern === undefined || escape === undefined || Array.from(escape).length > 1)
    return undefined;
  return {
    kind: "pattern",
    fits: (name) => isLike(name, pattern, escape === "" ? undefined : escape),
    condition: (column, bindings) => {
      const like = `${column} LIKE ${bindings.text(pattern)}`;
      return escape === "" ? like : `${like} ESCAPE ${bindings.text(escape)}`;
    },
  };
}
