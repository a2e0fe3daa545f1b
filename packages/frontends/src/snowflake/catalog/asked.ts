/**
 * Statements about objects, as Snowflake has them and as its tools send them: `SHOW …`, `DESC TABLE …`, the version of the
 * server. Only whole statements are understood; whatever else stands in one makes it the engine's.
 */

export type CatalogAsk =
  | { readonly kind: "version" }
  | { readonly kind: ListKind; readonly like: string | undefined; readonly place: Place }
  | { readonly kind: KeyKind; readonly place: Place }
  | { readonly kind: "described"; readonly place: Place }
  /** Columns of a schema, as Snowflake's dialect of SQLAlchemy reads them; of all tables where it names none. */
  | { readonly kind: "columns"; readonly place: Place; readonly tables: readonly string[] };

export type ListKind = "databases" | "schemas" | "tables" | "views" | "objects";
export type KeyKind = "primaryKeys" | "uniqueKeys" | "importedKeys";

/** What is asked about: names from the outermost to the innermost, and what the last of them is. */
export interface Place {
  readonly level: "account" | "database" | "schema" | "table";
  /** Empty for where the session is. */
  readonly names: readonly string[];
}

const textMax = 16_384;

/** What the statement asks; undefined for one that is the engine's. */
export function catalogAsk(sql: string): CatalogAsk | undefined {
  if (sql.length > textMax || !/^[\s(]*(?:show|desc|describe|select|\/\*)/i.test(sql)) {
    return undefined;
  }
  const tokens = tokensOf(sql);
  if (tokens === undefined) return undefined;
  const reader = new Reader(tokens);
  const ask = readAsk(reader);
  reader.take(";");
  return reader.isOver ? ask : undefined;
}

function readAsk(reader: Reader): CatalogAsk | undefined {
  if (reader.take("show")) return readShow(reader);
  if (reader.take("desc") || reader.take("describe")) {
    if (!reader.take("table") && !reader.take("view")) return undefined;
    const names = reader.names();
    reader.take("type", "=", "columns");
    return names === undefined
      ? undefined
      : { kind: "described", place: { level: "table", names } };
  }
  if (!reader.take("select")) return undefined;
  if (reader.take("current_version", "(", ")")) return { kind: "version" };
  return reader.take(...columnsAsked) ? readColumns(reader) : undefined;
}

const listKinds: readonly ListKind[] = ["databases", "schemas", "tables", "views", "objects"];
const keyKinds = {
  primary: "primaryKeys",
  unique: "uniqueKeys",
  imported: "importedKeys",
} as const satisfies Record<string, KeyKind>;

function readShow(reader: Reader): CatalogAsk | undefined {
  reader.take("terse");
  const list = listKinds.find((kind) => reader.take(kind));
  if (list !== undefined) {
    const like = reader.take("like") ? reader.text() : undefined;
    const place =
      list === "databases" ? everywhere : readPlace(reader, outside[list], outside[list]);
    return { kind: list, like, place };
  }
  for (const [word, kind] of Object.entries(keyKinds)) {
    if (!reader.take(word, "keys")) continue;
    return { kind, place: readPlace(reader, "schema", "table") };
  }
  return undefined;
}

const everywhere: Place = { level: "account", names: [] };
/** In what such things lie. */
const outside = {
  schemas: "database",
  tables: "schema",
  views: "schema",
  objects: "schema",
} as const satisfies Record<Exclude<ListKind, "databases">, Place["level"]>;
const levels = ["account", "database", "schema", "table", "view"] as const;

/** `IN …`; where the session is, as far as `without` says, where there is none. `bare`: what a name without its kind is. */
function readPlace(reader: Reader, without: Place["level"], bare: Place["level"]): Place {
  if (!reader.take("in")) return { level: without, names: [] };
  const level = levels.find((one) => reader.take(one)) ?? bare;
  if (level === "account") return everywhere;
  return { level: level === "view" ? "table" : level, names: reader.names() ?? [] };
}

/** The dialect's own statement, up to the database that it reads from. */
const columnNames =
  "table_name column_name data_type character_maximum_length numeric_precision numeric_scale is_nullable column_default is_identity comment identity_start identity_increment identity_generation identity_cycle identity_ordered data_type_alias";
const columnsAsked = columnNames
  .split(" ")
  .flatMap((name, index) => [...(index === 0 ? [] : [","]), "ic", ".", name])
  .concat("from");

const columnsPlace = ". information_schema . columns ic where ic . table_schema =".split(" ");

function readColumns(reader: Reader): CatalogAsk | undefined {
  const database = reader.name();
  const isAsked = reader.take(...columnsPlace);
  const schema = isAsked ? reader.text() : undefined;
  if (database === undefined || schema === undefined) return undefined;
  const tables: string[] = [];
  if (reader.take("and", "ic", ".", "table_name", "in", "(")) {
    do {
      const table = reader.text();
      if (table === undefined) return undefined;
      tables.push(table);
    } while (reader.take(","));
    if (!reader.take(")")) return undefined;
  }
  if (!reader.take("order", "by", "ic", ".", "ordinal_position")) return undefined;
  return { kind: "columns", place: { level: "schema", names: [database, schema] }, tables };
}

type Token =
  | { readonly kind: "word" | "sign"; readonly text: string; readonly written: string }
  | { readonly kind: "quoted" | "string"; readonly text: string };

const tokenForm =
  /\s+|\/\*[\s\S]*?\*\/|--[^\n]*|'((?:[^'\\]|''|\\[\s\S])*)'|"((?:[^"]|"")+)"|([A-Za-z_][\w$]*)|([.,;()=])/y;

/** Undefined for a text that holds anything else. Comments and spaces are left out. */
function tokensOf(sql: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  tokenForm.lastIndex = 0;
  for (let at = 0; at < sql.length; at = tokenForm.lastIndex) {
    const found = tokenForm.exec(sql);
    if (found === null) return undefined;
    const [, string, quoted, word, sign] = found;
    if (string !== undefined) {
      tokens.push({
        kind: "string",
        text: string.replaceAll("''", "'").replaceAll(/\\([\s\S])/g, "$1"),
      });
    } else if (quoted !== undefined) {
      tokens.push({ kind: "quoted", text: quoted.replaceAll('""', '"') });
    } else if (word !== undefined) {
      tokens.push({ kind: "word", text: word.toLowerCase(), written: word });
    } else if (sign !== undefined) tokens.push({ kind: "sign", text: sign, written: sign });
  }
  return tokens;
}

/** Tokens, taken from left to right. */
class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get isOver(): boolean {
    return this.#at === this.#tokens.length;
  }

  /** Takes these words and signs, all or none. */
  take(...texts: readonly string[]): boolean {
    const fits = texts.every((text, index) => {
      const token = this.#tokens[this.#at + index];
      return token !== undefined && "written" in token && token.text === text;
    });
    if (fits) this.#at += texts.length;
    return fits;
  }

  text(): string | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== "string") return undefined;
    this.#at += 1;
    return token.text;
  }

  name(): string | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== "quoted" && token?.kind !== "word") return undefined;
    this.#at += 1;
    return "written" in token ? token.written : token.text;
  }

  /** One to three names with points between them. */
  names(): readonly string[] | undefined {
    const names: string[] = [];
    do {
      const name = this.name();
      if (name === undefined || names.length === 3) return undefined;
      names.push(name);
    } while (this.take("."));
    return names;
  }
}
