/** The names that a statement uses, given to the tables whose columns they may be. Names in lower case. */
import type { TouchedColumns } from "@gateway/core/port/sql/sqlReading.ts";

/** A place where names are looked up: a query, or what stands behind several. */
export interface Scope {
  readonly outer: Scope | undefined;
  /** It stands among the sources of the outer one, which it does not see itself in. */
  readonly isSource: boolean;
  /** Tables that are named in it. */
  readonly bases: number[];
  /** Everything that has columns there: tables, parts of a WITH, queries in brackets. */
  sources: number;
  /** Names that the query gives itself. */
  readonly aliases: Set<string>;
}

interface Use {
  readonly chain: readonly string[];
  readonly scope: Scope;
}

interface Touched {
  readonly named: Set<string>;
  readonly unresolved: Set<string>;
  readonly prefixes: Set<string>;
  all: boolean;
}

/** Everything is collected first: a name may stand before the table that it belongs to. */
export class ColumnNames {
  readonly #tables: readonly Touched[];
  /** Tables by the names that stand before a dot. */
  readonly #exposed = new Map<string, Set<number>>();
  /** Names of queries in brackets and parts of a WITH. */
  readonly #derived = new Set<string>();
  readonly #uses: Use[] = [];
  readonly #stars: { readonly table: string; readonly scope: Scope }[] = [];
  readonly #shared: { readonly name: string; readonly scope: Scope }[] = [];

  constructor(count: number) {
    this.#tables = Array.from({ length: count }, () => ({
      named: new Set<string>(),
      unresolved: new Set<string>(),
      prefixes: new Set<string>(),
      all: false,
    }));
  }

  expose(name: string, index: number | undefined): void {
    if (name === "" || index === undefined) return;
    const known = this.#exposed.get(name);
    if (known === undefined) this.#exposed.set(name, new Set([index]));
    else known.add(index);
  }

  derive(name: string): void {
    if (name !== "") this.#derived.add(name);
  }

  name(index: number, column: string): void {
    this.#tables[index]?.named.add(column);
  }

  all(index: number): void {
    const table = this.#tables[index];
    if (table !== undefined) table.all = true;
  }

  /** `*` where `table` is empty. */
  star(table: string, scope: Scope): void {
    this.#stars.push({ table, scope });
  }

  /** A name of a USING: a column of both sides. */
  shared(name: string, scope: Scope): void {
    this.#shared.push({ name, scope });
  }

  /** `a.b.c` as its names; one of them, where it stands alone. */
  use(chain: readonly string[], scope: Scope): void {
    this.#uses.push({ chain, scope });
  }

  /** One answer for each table, once all is collected. */
  found(): readonly TouchedColumns[] {
    for (const { table, scope } of this.#stars) this.#giveAll(table, scope);
    for (const { name, scope } of this.#shared) {
      const isPair = scope.sources === 2;
      for (const index of scope.bases) {
        if (isPair) this.name(index, name);
        else this.#tables[index]?.unresolved.add(name);
      }
    }
    for (const use of this.#uses) this.#give(use);
    return this.#tables.map(({ named, unresolved, prefixes, all }) => ({
      named: [...named].toSorted(),
      unresolved: [...unresolved].filter((name) => !named.has(name)).toSorted(),
      prefixes: [...prefixes].filter((name) => !named.has(name)).toSorted(),
      all,
    }));
  }

  #giveAll(table: string, scope: Scope): void {
    const exposed = table === "" ? undefined : this.#exposed.get(table);
    if (table !== "" && exposed === undefined && this.#derived.has(table)) return;
    // The columns of a column, where the name is no table's.
    const meant = exposed ?? (table === "" ? scope.bases : visibleFrom(scope).bases);
    for (const index of meant) this.all(index);
  }

  #give({ chain, scope }: Use): void {
    const [first = "", ...rest] = chain;
    // Engines with columns in columns may take `a.b` in quotes for one of them.
    const quoted = chain.find((name) => name.includes("."));
    if (quoted !== undefined) this.#give({ chain: quoted.split("."), scope });
    if (rest.length === 0) {
      for (const index of this.#exposed.get(first) ?? []) this.all(index);
      this.#giveBare(first, scope);
      return;
    }
    const isDerived = this.#derived.has(first);
    let isTable = isDerived;
    for (const [at, name] of rest.entries()) {
      const exposed = this.#exposed.get(chain[at] ?? "");
      if (exposed === undefined) continue;
      for (const index of exposed) {
        if (exposed.size === 1 && !isTable) this.name(index, name);
        else this.#tables[index]?.unresolved.add(name);
      }
      isTable = true;
    }
    if (!isTable) {
      this.#giveBare(first, scope);
      return;
    }
    const own = this.#exposed.get(first);
    for (const index of visibleFrom(scope).bases) {
      if (own?.has(index) !== true) this.#tables[index]?.prefixes.add(first);
    }
  }

  #giveBare(name: string, scope: Scope): void {
    const { bases, sources, aliases } = visibleFrom(scope);
    if (bases.length === 1 && sources === 1 && !aliases.has(name)) {
      this.name(bases[0] ?? -1, name);
      return;
    }
    // Behind a statement, where no query says what is seen.
    const meant = sources === 0 ? this.#tables.keys() : bases;
    for (const index of meant) this.#tables[index]?.unresolved.add(name);
  }
}

/** From inside out: a name that the inner query does not know may be the outer one's. */
function visibleFrom(scope: Scope): Pick<Scope, "bases" | "sources" | "aliases"> {
  const bases: number[] = [];
  const aliases = new Set<string>();
  let sources = 0;
  let isSource = false;
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    bases.push(...at.bases);
    for (const alias of at.aliases) aliases.add(alias);
    sources += at.sources - (isSource ? 1 : 0);
    isSource = at.isSource;
  }
  return { bases, sources, aliases };
}
