/** Draws types, values and literals of PostgreSQL by chance, and makes statements with them. */
import { Draw } from "../ordinary/chance.ts";
import { texts } from "./postgresTexts.ts";

/** A statement of a script. `values` are texts; a connection sends them in the form of `form`. */
export interface Scripted {
  readonly sql: string;
  readonly form: "simple" | "untyped" | "typed" | "binary";
  /** Whether its rows are asked for in binary. */
  readonly binaryRows: boolean;
  readonly values: readonly Valued[];
}

/** A value and the name of its type. */
export interface Valued {
  readonly type: string;
  readonly text: string | null;
}

/** A choice by chance. */
export class Pick extends Draw {
  readonly #types = Object.keys(texts);

  type(): string {
    return this.one(this.#types);
  }

  text(type: string): string {
    return this.one(texts[type] ?? ["1"]);
  }

  value(type = this.type()): Valued {
    return { type, text: this.below(9) === 0 ? null : this.text(type) };
  }

  /** A literal of the type, by one of the ways to write it. */
  literal(type = this.type()): string {
    const { text } = this.value(type);
    if (text === null) return `null::${type}`;
    const written = quoted(text);
    return this.one([`${written}::${type}`, `cast(${written} as ${type})`]);
  }

  column(): string {
    return `c${this.below(this.#types.length)}`;
  }

  /** A statement without values, by either protocol. */
  plain(sql: string): Scripted {
    const form = this.one(["simple", "simple", "untyped"] as const);
    return { sql, form, binaryRows: form !== "simple" && this.below(3) === 0, values: [] };
  }

  /** A statement with values in any form. */
  valued(sql: string, values: readonly Valued[]): Scripted {
    const form = this.one(["untyped", "typed", "binary"] as const);
    return { sql, form, binaryRows: this.below(4) === 0, values };
  }
}

/** Draws a script of one kind. */
export type Shape = (pick: Pick) => readonly Scripted[];

/** The column of a type in the table that has one of each. */
export function columnOf(type: string): string {
  return `c${Math.max(0, Object.keys(texts).indexOf(type))}`;
}

/** A text in quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
