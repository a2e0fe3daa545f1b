/**
 * Walks over the nodes of one statement and collects the tables it names. It knows what it lets pass (kinds.ts) and
 * stops at everything else, so that a construct nobody thought of is refused and not overlooked.
 */
import type { NamePart, TableReference } from "@gateway/core/port/sql/sqlReading.ts";
import { knownFunctions, plainFields, readNodes, referenceParts, selectParts } from "./kinds.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Why a statement is not understood; caught in read.ts. */
export class NotUnderstood extends Error {}

/** Names of WITH that can be meant at a place, in lower case; `unclear` ones may be a table or a part. */
interface Scope {
  readonly parts: ReadonlySet<string>;
  readonly unclear: ReadonlySet<string>;
}

const depthMax = 2_000;

export class NodeReader {
  readonly tables: TableReference[] = [];
  readonly parts = new Set<string>();
  /** Where the node of each table stands in `tables`. */
  readonly places = new Map<object, number>();
  readonly #functions: ReadonlySet<string>;
  readonly #offset: (character: number) => number;
  #scope: Scope = { parts: new Set(), unclear: new Set() };
  #depth = 0;

  /** `functions`: names that the configuration adds, in lower case. `offset` turns the parser's count of characters into UTF-16 units. */
  constructor(functions: ReadonlySet<string>, offset: (character: number) => number) {
    this.#functions = functions;
    this.#offset = offset;
  }

  /** Anything: a node, a list, a field's value. */
  visit(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    this.#depth += 1;
    if (this.#depth > depthMax) throw new NotUnderstood("its depth");
    if (Array.isArray(value)) for (const each of value) this.visit(each);
    else this.#object(value as Fields);
    this.#depth -= 1;
  }

  /** A reference to a table, where the statement says what it does with it. */
  table(value: unknown, written: boolean): void {
    if (!isReference(value)) throw new NotUnderstood("what it writes to");
    this.#reference(value, written);
  }

  /** Everything under a WITH sees its parts. */
  within(clause: unknown, rest: () => void): void {
    const outer = this.#scope;
    if (clause !== null && clause !== undefined) this.#scope = this.#withParts(clause as Fields);
    rest();
    this.#scope = outer;
  }

  #object(fields: Fields): void {
    if (isReference(fields)) {
      this.#reference(fields, false);
      return;
    }
    const keys = Object.keys(fields);
    const [kind] = keys;
    if (keys.length === 1 && kind !== undefined) {
      this.#node(kind, fields[kind]);
      return;
    }
    this.#fields(fields);
  }

  #node(kind: string, value: unknown): void {
    const isNode = readNodes.has(kind);
    if (!isNode && !plainFields.has(kind)) throw new NotUnderstood(kind.replaceAll("_", " "));
    if (kind === "select") onlyParts(value as Fields, selectParts, "a clause");
    if (kind === "function" || kind === "aggregate_function") this.#function(value as Fields);
    if (kind === "in" && mayNameTable(value as Fields)) {
      throw new NotUnderstood("IN with a name alone");
    }
    this.visit(value);
  }

  #function({ name }: Fields): void {
    const called = typeof name === "string" ? name.toLowerCase() : "";
    if (knownFunctions.has(called) || this.#functions.has(called)) return;
    throw new NotUnderstood(`the function ${/^\w{1,64}$/.test(called) ? called : "in it"}`);
  }

  #fields(fields: Fields): void {
    this.within(fields["with"], () => {
      for (const key of Object.keys(fields)) if (key !== "with") this.visit(fields[key]);
    });
  }

  #withParts(clause: Fields): Scope {
    const { ctes, recursive } = clause;
    if (!Array.isArray(ctes)) throw new NotUnderstood("its WITH");
    onlyParts(clause, withParts, "a kind of WITH");
    const names = (ctes as Fields[]).map(({ alias }) => nameOf(alias).toLowerCase());
    if (new Set(names).size < names.length) throw new NotUnderstood("a WITH with a name twice");
    const outer = this.#scope;
    for (const [index, cte] of (ctes as Fields[]).entries()) {
      const own = recursive === true ? index + 1 : index;
      this.#scope = {
        parts: new Set([...without(outer.parts, names), ...names.slice(0, own)]),
        unclear: new Set([...outer.unclear, ...names.slice(own)]),
      };
      this.parts.add(names[index] ?? "");
      // A name for a value is none for a table: behind FROM it is still the table's.
      const [kind = ""] = Object.keys(cte["this"] ?? {});
      if (!partQueries.has(kind) || cte["alias_first"] !== true) {
        throw new NotUnderstood("a part of WITH that is no query");
      }
      this.visit(cte["this"]);
    }
    return {
      parts: new Set([...outer.parts, ...names]),
      unclear: new Set(without(outer.unclear, names)),
    };
  }

  #reference(fields: Fields, written: boolean): void {
    const path = [fields["catalog"], fields["schema"], fields["name"]]
      .filter((part) => part !== null && part !== undefined)
      .map((part) => this.#part(part));
    const last = path[path.length - 1]?.name.toLowerCase() ?? "";
    if (path.length === 1 && this.#scope.unclear.has(last)) {
      throw new NotUnderstood("a name that may be a table or a part of WITH");
    }
    for (const key of ["when", "hints", "table_sample"]) this.visit(fields[key]);
    const plain = Object.keys(fields).every(
      (key) => referenceParts.has(key) || isEmpty(fields[key]),
    );
    if (path.length === 1 && this.#scope.parts.has(last)) {
      if (written) throw new NotUnderstood("what it writes to");
      return;
    }
    this.places.set(fields, this.tables.length);
    const aliased = !isEmpty(fields["alias"]);
    this.tables.push({ path, written, aliased, plain, columns: undefined });
  }

  #part(value: unknown): NamePart {
    const { name, span } = value as Fields;
    const { start, end } = (span ?? {}) as Fields;
    if (typeof name !== "string" || typeof start !== "number" || typeof end !== "number") {
      throw new NotUnderstood("where a table is named");
    }
    return { name, start: this.#offset(start), end: this.#offset(end) };
  }
}

const partQueries: ReadonlySet<string> = new Set([
  "select",
  "union",
  "intersect",
  "except",
  "values",
]);

/** `a IN t` and `a IN (t)` read the table t where an engine knows it. */
function mayNameTable({ is_field: isField, expressions }: Fields): boolean {
  if (isField === true) return true;
  if (!Array.isArray(expressions) || expressions.length !== 1) return false;
  const [only = ""] = Object.keys(expressions[0] as Fields);
  return only !== "literal" && only !== "parameter" && only !== "placeholder" && only !== "cast";
}

const withParts: ReadonlySet<string> = new Set([
  "ctes",
  "recursive",
  "leading_comments",
  "trailing_comments",
]);

/** Refuses what is there and not named. */
export function onlyParts(fields: Fields, parts: ReadonlySet<string>, what: string): void {
  for (const key of Object.keys(fields)) {
    if (!parts.has(key) && !isEmpty(fields[key])) {
      throw new NotUnderstood(`${what}: ${key.replaceAll("_", " ")}`);
    }
  }
}

export function isReference(value: unknown): value is Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return "name" in value && "schema" in value && "catalog" in value && !("args" in value);
}

export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return true;
  return Array.isArray(value) && value.length === 0;
}

function nameOf(value: unknown): string {
  const { name } = (value ?? {}) as Fields;
  if (typeof name !== "string") throw new NotUnderstood("its WITH");
  return name;
}

function without(names: ReadonlySet<string>, others: readonly string[]): readonly string[] {
  const left = new Set(others);
  return [...names].filter((name) => !left.has(name));
}
