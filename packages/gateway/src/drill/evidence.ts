/** What a drill collects: how each query ended, what the engine ran at once, what became of records. Data only. */

/**
 * How one query ended for its client.
 *
 * - `right`: the cell that was asked for.
 * - `typed`: an error with a name of the protocol, or an HTTP status that says what to do.
 * - `cut`: the connection was refused or ended before the answer did.
 * - `wrong`: an answer that ends without an error and is not the cell that was asked for.
 * - `hung`: no end within the limit of an answer.
 */
export type AnswerKind = "right" | "typed" | "cut" | "wrong" | "hung";

export interface Answer {
  readonly kind: AnswerKind;
  /** Name or status of the error; what was found instead; empty for a right answer. */
  readonly detail: string;
  /** The query's id in the gateway; undefined where no answer named one. */
  readonly queryId: string | undefined;
}

/** An answer with its place. Times are monotonic milliseconds. */
export interface Asked extends Answer {
  /** Which client of the load, from 0. */
  readonly client: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Ids of queries that ended and have no record, beside how many the gateway itself counts as lost. */
export interface RecordEvidence {
  readonly wanted: number;
  readonly missing: readonly string[];
  /** Undefined where no metrics were named: nothing is counted then. */
  readonly counted: number | undefined;
  /** Second, different records for one id that came up meanwhile. */
  readonly conflicts: number;
}

/** What the engine said it runs, as the operator's command asked it. */
export interface CapEvidence {
  readonly cap: number;
  readonly most: number;
  readonly looks: number;
  /** Looks that gave no number. */
  readonly failed: number;
}

/** How the user that was removed was seen afterwards. Undefined for other drills. */
export interface RevokedEvidence {
  /** Refused for who it is, after every worker had said that it runs without the user. */
  readonly refused: number;
  /** Answered after that, which none may be. */
  readonly answered: number;
  /** Neither: a worker that could not be reached, say. */
  readonly other: number;
}

export interface Evidence {
  readonly asked: readonly Asked[];
  /** The fault, from the moment before it began to the moment after it was undone. Monotonic milliseconds. */
  readonly fault: { readonly fromMs: number; readonly undoneMs: number };
  /** When every client had its answer again and every worker its place; undefined: not within the limit. */
  readonly recoveredMs: number | undefined;
  /** Undefined where they could not be asked for. */
  readonly records: RecordEvidence | undefined;
  /** Undefined where the operator named no way to ask the engine. */
  readonly cap: CapEvidence | undefined;
  readonly revoked: RevokedEvidence | undefined;
}

/**
 * Why there is nothing to judge.
 *
 * - `refused`: nothing was done.
 * - `notRun`: what was done is undone.
 * - `notUndone`: something may be left as the drill made it; the operator has to look at once.
 */
export interface NoEvidence {
  readonly kind: "refused" | "notRun" | "notUndone";
  readonly text: string;
}
