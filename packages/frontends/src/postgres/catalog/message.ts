/** What the main thread and the mirror's thread tell each other. Data only. */
import type { Format } from "@gateway/wire/postgres/message.ts";

export interface MirrorData {
  /** What the thread is started for: to write the data folder of all mirrors into a file, or to serve. */
  readonly work: { readonly kind: "make"; readonly file: string } | { readonly kind: "serve" };
}

/** What a statement sees of its session. */
export interface MirrorSession {
  readonly user: string;
  /** As `SET search_path` takes it. */
  readonly searchPath: string;
  /** The path as the client set it, which is what it is told. */
  readonly shownPath: string;
  readonly timeZone: string;
  readonly applicationName: string;
  /** Process number of the connection's cancel key. */
  readonly process: number;
}

/** A value as the client sent it: text for format 0, bytes for format 1. */
export type MirrorValue = string | Uint8Array | null;

export interface MirrorStatement {
  readonly sql: string;
  /** Object ids that the client gave its parameters; 0 leaves one open. */
  readonly types: readonly number[];
  readonly session: MirrorSession;
}

/** Statements of the mirror's owner: what goes, what comes, and how it is finished. */
export interface MirrorFill {
  readonly before: readonly string[];
  /** Run one by one when they fail together; those that fail alone are left out. */
  readonly shells: readonly string[];
  readonly after: readonly string[];
}

/** What a mirror can be asked to do. */
export type MirrorCommand =
  | ({ readonly kind: "fill" } & MirrorFill)
  | ({ readonly kind: "describe" } & MirrorStatement)
  | ({
      readonly kind: "run";
      readonly values: readonly MirrorValue[];
      readonly formats: readonly Format[];
    } & MirrorStatement);

/** The same as a message, with the number that its reply bears. */
export type MirrorRequest = { readonly id: number } & MirrorCommand;

export interface MirrorColumn {
  readonly name: string;
  readonly oid: number;
  readonly size: number;
  readonly modifier: number;
}

/** Cells of one column in the format asked for: `values` between two `offsets`, one bit of `validity` per row. */
export interface MirrorVector {
  readonly values: Uint8Array;
  readonly offsets: Int32Array;
  readonly validity: Uint8Array | undefined;
}

export interface MirrorRows {
  readonly columns: readonly MirrorColumn[];
  readonly rows: number;
  readonly vectors: readonly MirrorVector[];
}

export interface MirrorDescription {
  readonly types: readonly number[];
  readonly columns: readonly MirrorColumn[];
}

/** PostgreSQL's own error about the client's statement. */
export interface MirrorError {
  readonly sqlState: string;
  readonly message: string;
  /** Characters from 1. */
  readonly position?: number;
  readonly hint?: string;
}

/** Without `id`: about the thread itself. */
export type MirrorReply =
  | { readonly kind: "ready" }
  | { readonly kind: "made" }
  /** The thread ends after it. */
  | { readonly kind: "broken"; readonly code: string }
  /** `skipped` shells could not be made. */
  | { readonly id: number; readonly kind: "filled"; readonly skipped: number }
  | { readonly id: number; readonly kind: "described"; readonly description: MirrorDescription }
  | { readonly id: number; readonly kind: "rows"; readonly result: MirrorRows }
  | { readonly id: number; readonly kind: "refused"; readonly error: MirrorError }
  /** The statement reached for a table's rows, which are not here. */
  | { readonly id: number; readonly kind: "touched" }
  /** The result is larger than a mirror gives. */
  | { readonly id: number; readonly kind: "tooLarge" };
