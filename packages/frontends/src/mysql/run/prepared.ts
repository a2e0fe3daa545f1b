/**
 * The prepared statements of one connection, and the values that were sent ahead for them.
 *
 * Bounded three ways: their count, the bytes of their texts together, and the bytes sent ahead. What
 * can not be answered at once (sending ahead has no answer) is refused at the next execution.
 */
import type { StatementClass } from "@gateway/core/sql/classify/classify.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";
import type { BoundType } from "@gateway/wire/mysql/execute.ts";
import { preparedMax } from "../limits.ts";

export interface PreparedStatement {
  readonly id: number;
  /** As the client sent it, for what the frontend answers itself. */
  readonly source: string;
  /** What that is. */
  readonly statement: StatementClass;
  /** With `$1`, `$2`, … in the places; undefined for what the frontend answers itself. */
  readonly sql: string | undefined;
  readonly parameters: readonly DataType[];
  readonly columns: readonly Column[];
}

interface Kept {
  readonly statement: PreparedStatement;
  /** Types of the last execution. */
  types: readonly BoundType[] | undefined;
  /** By parameter, in the pieces they came in. */
  readonly longData: Map<number, Uint8Array[]>;
  longBytes: number;
  /** Too much was sent ahead: the next execution is refused. */
  overflowed: boolean;
}

/** Values sent ahead, joined; `overflowed` when they were too large to keep. */
export interface LongData {
  readonly values: ReadonlyMap<number, Uint8Array>;
  readonly overflowed: boolean;
}

const nothingAhead: LongData = { values: new Map(), overflowed: false };

/** What a piece costs beside its bytes: many pieces of one byte must not slip under the limit. */
const pieceBytes = 128;

export class PreparedStatements {
  readonly #bytesMax: number;
  readonly #kept = new Map<number, Kept>();
  #nextId = 1;
  #textBytes = 0;
  #longBytes = 0;

  /** `bytesMax` bounds the texts, of which each is kept twice, and the values sent ahead. Config: `maxMessageBytes`. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The id of the new statement, or undefined when there are too many. */
  add(statement: Omit<PreparedStatement, "id">): number | undefined {
    const bytes = textBytes(statement);
    if (this.#kept.size >= preparedMax || this.#textBytes + bytes > this.#bytesMax * 2) {
      return undefined;
    }
    const id = this.#nextId;
    // The id has four bytes on the wire; a connection that made 2^32 of them starts again.
    this.#nextId = id === 0xffff_ffff ? 1 : id + 1;
    this.#textBytes += bytes;
    this.#kept.set(id, {
      statement: { ...statement, id },
      types: undefined,
      longData: new Map(),
      longBytes: 0,
      overflowed: false,
    });
    return id;
  }

  get(id: number): PreparedStatement | undefined {
    return this.#kept.get(id)?.statement;
  }

  types(id: number): readonly BoundType[] | undefined {
    return this.#kept.get(id)?.types;
  }

  /** Keeps the types of an execution for later ones that leave them out. */
  bind(id: number, types: readonly BoundType[]): void {
    const kept = this.#kept.get(id);
    if (kept !== undefined) kept.types = types;
  }

  /** Keeps a piece of a value. Unknown statements and parameters are ignored: nobody waits for an answer. */
  append(id: number, parameter: number, bytes: Uint8Array): void {
    const kept = this.#kept.get(id);
    if (kept === undefined || parameter >= kept.statement.parameters.length) return;
    const cost = bytes.length + pieceBytes;
    if (this.#longBytes + cost > this.#bytesMax) {
      kept.overflowed = true;
      return;
    }
    const pieces = kept.longData.get(parameter) ?? [];
    // A piece is a view of what was received; its own copy keeps no more alive than itself. (`slice`
    // of a Buffer would be another view.)
    pieces.push(new Uint8Array(bytes));
    kept.longData.set(parameter, pieces);
    kept.longBytes += cost;
    this.#longBytes += cost;
  }

  /** What was sent ahead; forgotten afterwards. */
  takeLongData(id: number): LongData {
    const kept = this.#kept.get(id);
    if (kept === undefined || (kept.longData.size === 0 && !kept.overflowed)) return nothingAhead;
    const values = new Map<number, Uint8Array>();
    for (const [parameter, pieces] of kept.longData) values.set(parameter, Buffer.concat(pieces));
    const { overflowed } = kept;
    this.#forgetLongData(kept);
    return { values, overflowed };
  }

  /** COM_STMT_RESET: forgets what was sent ahead. False for an unknown statement. */
  reset(id: number): boolean {
    const kept = this.#kept.get(id);
    if (kept !== undefined) this.#forgetLongData(kept);
    return kept !== undefined;
  }

  close(id: number): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#forgetLongData(kept);
    this.#textBytes -= textBytes(kept.statement);
    this.#kept.delete(id);
  }

  clear(): void {
    this.#kept.clear();
    this.#textBytes = 0;
    this.#longBytes = 0;
  }

  #forgetLongData(kept: Kept): void {
    this.#longBytes -= kept.longBytes;
    kept.longData.clear();
    kept.longBytes = 0;
    kept.overflowed = false;
  }
}

/** UTF-16 code units of what is kept; V8 takes one or two bytes for each. */
function textBytes({ source, sql }: Omit<PreparedStatement, "id">): number {
  return source.length + (sql?.length ?? 0);
}
