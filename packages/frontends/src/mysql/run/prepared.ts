/**
 * The prepared statements of one connection, and the values that were sent ahead for them.
 *
 * Three limits hold: their count, the bytes of all texts, and the bytes sent ahead. Sending ahead has no
 * answer, so the next execution tells what was too much.
 */
import type { StatementClass } from "@gateway/core/sql/classify/classify.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";
import type { BoundType } from "@gateway/wire/mysql/execute.ts";
import { preparedMax } from "../limits.ts";
import type { Relayed } from "./relaying.ts";

export interface PreparedStatement {
  readonly id: number;
  /** As the client sent it, for what the frontend answers itself. */
  readonly source: string;
  /** What `source` is read as. */
  readonly statement: StatementClass;
  /** With `$1`, `$2`, … as parameters; undefined for what the frontend answers itself. */
  readonly sql: string | undefined;
  /** For a server of MySQL's, which prepares it in the client's own words. */
  readonly relayed?: Relayed | undefined;
  readonly parameters: readonly DataType[];
  readonly columns: readonly Column[];
}

/** A statement and what came for its next execution. */
interface Entry {
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
  readonly #entries = new Map<number, Entry>();
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
    if (this.#entries.size >= preparedMax || this.#textBytes + bytes > this.#bytesMax * 2) {
      return undefined;
    }
    const id = this.#nextId;
    // The id has four bytes on the wire; a connection that made 2^32 of them starts again.
    this.#nextId = id === 0xffff_ffff ? 1 : id + 1;
    this.#textBytes += bytes;
    this.#entries.set(id, {
      statement: { ...statement, id },
      types: undefined,
      longData: new Map(),
      longBytes: 0,
      overflowed: false,
    });
    return id;
  }

  get(id: number): PreparedStatement | undefined {
    return this.#entries.get(id)?.statement;
  }

  types(id: number): readonly BoundType[] | undefined {
    return this.#entries.get(id)?.types;
  }

  /** Keeps the types of an execution for later ones that leave them out. */
  bind(id: number, types: readonly BoundType[]): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.types = types;
  }

  /** Keeps a piece of a value. Unknown statements and parameters are ignored: nobody waits for an answer. */
  append(id: number, parameter: number, bytes: Uint8Array): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || parameter >= entry.statement.parameters.length) return;
    const cost = bytes.length + pieceBytes;
    if (this.#longBytes + cost > this.#bytesMax) {
      entry.overflowed = true;
      return;
    }
    const pieces = entry.longData.get(parameter) ?? [];
    // A piece is a view into all that was received, and would keep that alive; a copy does not. (`slice`
    // of a Buffer would be another view.)
    pieces.push(new Uint8Array(bytes));
    entry.longData.set(parameter, pieces);
    entry.longBytes += cost;
    this.#longBytes += cost;
  }

  /** Whether a value was sent ahead for the next execution. */
  isAhead(id: number, parameter: number): boolean {
    return this.#entries.get(id)?.longData.has(parameter) === true;
  }

  /** Takes what was sent ahead; afterwards it is forgotten. */
  takeLongData(id: number): LongData {
    const entry = this.#entries.get(id);
    if (entry === undefined || (entry.longData.size === 0 && !entry.overflowed))
      return nothingAhead;
    const values = new Map<number, Uint8Array>();
    for (const [parameter, pieces] of entry.longData) values.set(parameter, Buffer.concat(pieces));
    const { overflowed } = entry;
    this.#forgetLongData(entry);
    return { values, overflowed };
  }

  /** COM_STMT_RESET: forgets what was sent ahead. False for an unknown statement. */
  reset(id: number): boolean {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#forgetLongData(entry);
    return entry !== undefined;
  }

  close(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#forgetLongData(entry);
    this.#textBytes -= textBytes(entry.statement);
    this.#entries.delete(id);
  }

  clear(): void {
    this.#entries.clear();
    this.#textBytes = 0;
    this.#longBytes = 0;
  }

  #forgetLongData(entry: Entry): void {
    this.#longBytes -= entry.longBytes;
    entry.longData.clear();
    entry.longBytes = 0;
    entry.overflowed = false;
  }
}

/** UTF-16 code units of what is kept; V8 takes one or two bytes for each. */
function textBytes({ source, sql }: Omit<PreparedStatement, "id">): number {
  return source.length + (sql?.length ?? 0);
}
