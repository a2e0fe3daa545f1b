/**
 * Says which columns of each table a statement touches, for policies that decide by them.
 *
 * It may say too much and never too little: without a catalog nobody knows whose column a bare name is, so what may
 * belong to several tables is told of each, as unresolved. It walks what reader.ts let pass, and nothing else.
 */
import type { TouchedColumns } from "@gateway/core/port/sql/sqlReading.ts";
import { ColumnNames, type Scope } from "./columnNames.ts";
import { isReference, type Fields } from "./reader.ts";

/** `tables`: where each reference of a table stands among those of the statement; a part of a WITH is in none. One answer for each table. */
export function columnsOf(
  statement: Fields,
  tables: ReadonlyMap<object, number>,
): readonly TouchedColumns[] {
  const walk = new ColumnWalk(tables);
  walk.statement(statement);
  return walk.names.found();
}

class ColumnWalk {
  readonly names: ColumnNames;
  readonly #tables: ReadonlyMap<object, number>;
  /** In the order of the walk. */
  readonly #met: number[] = [];
  #scope: Scope = scopeOf(undefined);
  /** The query that comes next stands among the sources of its scope. */
  #inSources = false;

  constructor(tables: ReadonlyMap<object, number>) {
    this.#tables = tables;
    this.names = new ColumnNames(tables.size);
  }

  statement(node: Fields): void {
    const [kind = ""] = Object.keys(node);
    const fields = (node[kind] ?? {}) as Fields;
    switch (kind) {
      case "insert":
        return this.#inserted(fields);
      case "update":
        return this.#updated(fields);
      case "delete":
        return this.#deleted(fields);
      case "create_table":
        this.#target(fields["name"], undefined);
        this.#within(this.#scope, () => this.#visit([fields["with_cte"], fields["as_select"]], ""));
        return;
      case "drop_table":
        for (const name of listOf(fields["names"])) this.#target(name, undefined);
        return;
      case "truncate":
        return this.#target(fields["table"], undefined);
      default:
        return this.#visit(node, "");
    }
  }

  #inserted(fields: Fields): void {
    const columns = listOf(fields["columns"]).map(textOf);
    this.#target(fields["table"], columns.length === 0 ? undefined : columns);
    this.#visit([fields["with"], fields["values"], fields["query"]], "");
    this.#within(this.#targetScope(fields), () => this.#visit(fields["returning"], ""));
  }

  #updated(fields: Fields): void {
    const pairs = listOf(fields["set"]) as unknown[][];
    this.#target(
      fields["table"],
      pairs.map(([name]) => textOf(name)),
    );
    this.#visit(fields["with"], "");
    this.#within(this.#targetScope(fields), () => {
      this.#sources(
        (fields["from_clause"] as Fields | null)?.["expressions"],
        fields["from_joins"],
      );
      this.#visit([pairs.map(([, value]) => value), fields["where_clause"]], "");
      this.#visit(fields["returning"], "");
    });
  }

  #deleted(fields: Fields): void {
    this.#target(fields["table"], undefined);
    this.names.expose(textOf(fields["alias"]), this.#indexOf(fields["table"]));
    this.#visit(fields["with"], "");
    this.#within(this.#targetScope(fields), () => {
      this.#sources(fields["using"], []);
      this.#visit([fields["where_clause"], fields["returning"]], "");
    });
  }

  /** Undefined columns: the statement writes whole rows. */
  #target(reference: unknown, columns: readonly string[] | undefined): void {
    const index = this.#indexOf(reference);
    if (index === undefined) return;
    this.#expose(reference as Fields, index);
    if (columns === undefined) this.names.all(index);
    for (const name of columns ?? []) this.names.name(index, name);
  }

  #targetScope(fields: Fields): Scope {
    const index = this.#indexOf(fields["table"]);
    const scope = scopeOf(this.#scope);
    if (index !== undefined) scope.bases.push(index);
    scope.sources = 1;
    return scope;
  }

  #visit(value: unknown, key: string): void {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const each of value) this.#visit(each, key);
      return;
    }
    const fields = value as Fields;
    if (isReference(fields)) return this.#reference(fields);
    if (isName(fields)) {
      if (!silent.has(key)) this.names.use([textOf(fields)], this.#scope);
      return;
    }
    const [kind = "", more] = Object.keys(fields);
    if (more === undefined) return this.#node(kind, fields[kind]);
    this.#fields(fields, Object.keys(fields));
  }

  #fields(fields: Fields, keys: readonly string[]): void {
    if (fields["with"] !== undefined) this.#with(fields["with"]);
    for (const key of keys) if (key !== "with") this.#visit(fields[key], key);
  }

  #node(kind: string, value: unknown): void {
    const fields = (value ?? {}) as Fields;
    switch (kind) {
      case "select":
        return this.#select(fields);
      case "union":
      case "intersect":
      case "except":
      case "subquery":
        return this.#modified(fields);
      case "column":
      case "dot":
        return this.#chain({ [kind]: value });
      case "star":
        this.names.star(textOf(fields["table"]), this.#scope);
        return this.#visit(fields["replace"], "");
      case "function":
        if (/^columns$/i.test(String(fields["name"]))) this.names.star("", this.#scope);
        return this.#visit(value, "");
      case "lambda":
        for (const name of listOf(fields["parameters"])) this.#scope.aliases.add(textOf(name));
        return this.#visit(fields["body"], "");
      case "named_argument":
        return this.#visit(fields["value"], "");
      case "var":
        this.names.use([textOf({ name: fields["this"] })], this.#scope);
        return;
      default:
        return this.#visit(value, kind);
    }
  }

  #select(fields: Fields): void {
    if (fields["with"] !== undefined) this.#with(fields["with"]);
    const scope = scopeOf(this.#scope, this.#inSources);
    for (const shown of listOf(fields["expressions"])) {
      const alias = textOf(((shown as Fields)["alias"] as Fields | undefined)?.["alias"]);
      if (alias !== "") scope.aliases.add(alias);
    }
    this.#within(scope, () => {
      this.#sources((fields["from"] as Fields | null)?.["expressions"], fields["joins"]);
      for (const view of listOf(fields["lateral_views"]) as Fields[]) {
        scope.sources += 1;
        this.names.derive(textOf(view["table_alias"]));
        this.#visit(view["this"], "");
      }
      for (const window of listOf(fields["windows"]) as Fields[]) this.#visit(window["spec"], "");
      for (const key of Object.keys(fields)) if (!apart.has(key)) this.#visit(fields[key], key);
    });
  }

  /** What stands behind a query in brackets or behind several may look at the columns of each. */
  #modified(fields: Fields): void {
    if (fields["with"] !== undefined) this.#with(fields["with"]);
    const from = this.#met.length;
    for (const key of bodies) this.#inPlace(fields[key]);
    const scope = scopeOf(this.#scope, this.#inSources);
    scope.bases.push(...this.#met.slice(from));
    scope.sources = 2;
    this.#within(scope, () => {
      for (const key of Object.keys(fields)) {
        if (key !== "with" && !bodies.includes(key)) this.#visit(fields[key], key);
      }
    });
  }

  /** The same place for the queries within, which a part of a FROM may be. */
  #inPlace(value: unknown): void {
    const within = this.#inSources;
    this.#visit(value, "");
    this.#inSources = within;
  }

  #sources(from: unknown, joins: unknown): void {
    for (const each of listOf(from)) this.#source(each);
    for (const join of listOf(joins) as Fields[]) {
      this.#source(join["this"]);
      if (/natural/i.test(String(join["kind"]))) this.names.star("", this.#scope);
      for (const name of listOf(join["using"])) this.names.shared(textOf(name), this.#scope);
      for (const key of Object.keys(join)) {
        if (key !== "this" && key !== "using") this.#visit(join[key], key);
      }
    }
  }

  #source(node: unknown): void {
    const scope = this.#scope;
    scope.sources += 1;
    const own = scope.bases.length;
    const whole = (node ?? {}) as Fields;
    const [kind = ""] = Object.keys(whole);
    const fields = (whole[kind] ?? {}) as Fields;
    if (kind === "joined_table") {
      scope.sources -= 1;
      this.#sources([fields["left"]], fields["joins"]);
    } else {
      this.#inSources = true;
      this.#visit(node, "");
      this.#inSources = false;
    }
    const alias = textOf(fields["alias"]);
    if (kind === "table" || alias === "") return;
    this.names.derive(alias);
    for (const index of scope.bases.slice(own)) this.names.expose(alias, index);
  }

  #with(clause: unknown): void {
    for (const part of listOf((clause as Fields | null)?.["ctes"]) as Fields[]) {
      this.names.derive(textOf(part["alias"]));
      const within = this.#inSources;
      this.#inSources = false;
      this.#visit([part["this"], part["key_expressions"]], "");
      this.#inSources = within;
    }
  }

  #reference(fields: Fields): void {
    const index = this.#indexOf(fields);
    if (index === undefined) {
      this.names.derive(textOf(fields["alias"]));
      this.names.derive(textOf(fields["name"]));
      return;
    }
    this.#met.push(index);
    this.#scope.bases.push(index);
    this.#expose(fields, index);
    // New names for columns, by their order in the table.
    if (listOf(fields["column_aliases"]).length > 0) this.names.all(index);
    for (const key of ["when", "hints", "table_sample"]) this.#visit(fields[key], key);
  }

  #expose(fields: Fields, index: number): void {
    this.names.expose(textOf(fields["alias"]), index);
    this.names.expose(textOf(fields["name"]), index);
  }

  #chain(node: Fields): void {
    const chain = chainOf(node);
    if (chain !== undefined) this.names.use(chain, this.#scope);
    else this.#visit((node["dot"] as Fields | undefined)?.["this"], "");
  }

  #indexOf(reference: unknown): number | undefined {
    return this.#tables.get(reference as object);
  }

  #within(scope: Scope, rest: () => void): void {
    const { 0: outer, 1: within } = [this.#scope, this.#inSources];
    this.#scope = scope;
    this.#inSources = false;
    rest();
    this.#scope = outer;
    this.#inSources = within;
  }
}

/** Parts of a query that its own order of reading takes first. */
const apart: ReadonlySet<string> = new Set(["with", "from", "joins", "lateral_views", "windows"]);
const bodies: readonly string[] = ["left", "right", "this"];

/** Names of what is no column. Any other name may be one. */
const silent: ReadonlySet<string> = new Set([
  "alias",
  "column_aliases",
  "window_name",
  "except",
  "columns",
]);

function scopeOf(outer: Scope | undefined, isSource = false): Scope {
  return { outer, isSource, bases: [], sources: 0, aliases: new Set() };
}

/** The names of `a.b.c`, in brackets or not; undefined where something else is in front of the dots. */
function chainOf(node: unknown): readonly string[] | undefined {
  const whole = (node ?? {}) as Fields;
  const [kind = ""] = Object.keys(whole);
  const fields = (whole[kind] ?? {}) as Fields;
  if (kind === "paren") return chainOf(fields["this"]);
  if (kind === "column") {
    return [textOf(fields["table"]), textOf(fields["name"])].filter((name) => name !== "");
  }
  const before = kind === "dot" ? chainOf(fields["this"]) : undefined;
  return before && [...before, textOf(fields["field"])];
}

function isName(fields: Fields): boolean {
  return typeof fields["name"] === "string" && "quoted" in fields && !("args" in fields);
}

/** In lower case, as names of tables are; empty where there is none. */
function textOf(value: unknown): string {
  const { name } = (value ?? {}) as Fields;
  return typeof name === "string" ? name.normalize("NFC").toLowerCase() : "";
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
