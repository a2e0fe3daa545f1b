/**
 * The answers of one statement, by their numbers: the last one given, kept for a poll that repeats it,
 * and one built ahead while the client reads.
 *
 * What they tell comes from the execution (execution.ts). It knows no socket; `requests.ts` sends what
 * it answers.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { PolledQuery } from "@gateway/core/port/door.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import { trinoErrors } from "../errors.ts";
import type { LinkedQuery } from "../page/handles.ts";
import { Holder } from "../page/holder.ts";
import { ask, firstTurn, given, isOver, nextToken, type Progress, type Turn } from "../machine.ts";
import { keptData, pageBytes, plainData, tailText, type Page } from "../page/page.ts";
import type { Poll } from "../page/poll.ts";
import { encoded, type Encoding } from "../page/segment.ts";
import { Execution, holds, type ExecutionParts } from "./execution.ts";

export interface StatementParts extends ExecutionParts {
  /** What its links are bound to. */
  readonly linked: () => LinkedQuery;
  /** The links of the answer with that number; the same when they are asked for again. */
  readonly linksTo: (token: number, phase: "queued" | "executing") => NonNullable<Page["next"]>;
  /** The client's own text when the engine got exactly that, for positions in errors. */
  readonly sql: string | undefined;
  /** Turns a change of the session into response headers. */
  readonly headersOf: (change: SessionChange) => readonly (readonly [string, string])[];
  /** Further headers of the last answer, when the statement succeeded. */
  readonly endHeaders: readonly (readonly [string, string])[];
  /** The form of rows that the client asked for; undefined for plain JSON. */
  readonly encoding: Encoding | undefined;
}

export class PolledStatement {
  readonly polled: PolledQuery;
  readonly #parts: StatementParts;
  readonly #execution: Execution;
  #turn: Turn = firstTurn;
  #last: Page | undefined;
  #upcoming: Promise<Page> | undefined;
  #holders = 0;

  constructor(parts: StatementParts) {
    this.#parts = parts;
    this.polled = parts.polled;
    this.#execution = new Execution(parts);
  }

  get linked(): LinkedQuery {
    return this.#parts.linked();
  }

  get id(): QueryId {
    return this.polled.query.id;
  }

  get owner(): AuthContext {
    return this.polled.owner;
  }

  /** What is known of it, for people who ask. */
  get progress(): Progress {
    const { cancelled, progress } = this.#execution;
    if (!cancelled || isOver(progress)) return progress;
    return { ...progress, state: "FAILED", error: gatewayError("query.cancelled") };
  }

  /** The failure that answers the POST by an HTTP status instead of an answer of the query. */
  get refusal(): GatewayError | undefined {
    const { error } = this.#execution.progress;
    return error !== undefined && trinoErrors[error.code].status !== 200 ? error : undefined;
  }

  /** Bytes of rows kept for a repeated or a coming poll. */
  get retainedBytes(): number {
    const lastBytes = this.#last === undefined ? 0 : pageBytes(this.#last);
    return lastBytes + this.#execution.draft.bytes;
  }

  /** True when the last answer of all was given: what is kept serves repeated polls only. */
  get over(): boolean {
    // Whoever cancelled it may never poll again, and a drain would wait for that.
    return this.#execution.cancelled || this.#turn.over;
  }

  /**
   * The answer to the POST. Clients that do not look for rows in it (`readsRows` false) get the
   * state at once; what the statement gives meanwhile is in the next answer.
   */
  first(readsRows: boolean): Promise<Page> {
    return readsRows ? this.#produce(holds.firstMs) : this.#firstState();
  }

  /** The answer of that number, held until there is something new; undefined when it is past or not due. */
  answer(token: number, poll: Poll = {}): Promise<Page | undefined> {
    switch (ask(this.#turn, token)) {
      case "repeat":
        return Promise.resolve(this.#last);
      case "gone":
        return Promise.resolve(undefined);
      case "next":
        this.#execution.draft.want(poll.targetBytes);
        this.#upcoming ??= this.#produce(Math.min(poll.holdMs ?? holds.pollMs, holds.pollMs));
        return this.#upcoming;
    }
  }

  /** Builds the next answer while the client reads the last one, as far as it comes within a poll's time. Never rejects. */
  ahead(): Promise<void> {
    return this.#execution.fill(holds.pollMs, false);
  }

  /** A request waits here. Its leave without an answer cancels the query, unless another one waits too. */
  hold(): Holder {
    this.#holders += 1;
    return new Holder(this);
  }

  /** Called by a holder, once. */
  released(hungUp: boolean): void {
    this.#holders -= 1;
    if (hungUp && this.#holders === 0) this.cancel();
  }

  /** Ends the query as its client's wish, or for that reason, unless it is over. A later poll answers the failure. */
  cancel(reason?: GatewayError): void {
    this.#execution.cancel(reason);
  }

  /** Ends the query with the rows so far as its result; one without a row is cancelled. */
  endEarly(): void {
    this.#execution.endEarly();
  }

  /** Nobody will ask again: ends the query and reads it to its end, as far as that comes in a poll's time. */
  discard(): Promise<void> {
    return this.#execution.discard();
  }

  async #produce(holdMs: number): Promise<Page> {
    const execution = this.#execution;
    await execution.fill(holdMs, true);
    const last = execution.drained;
    const rowOffset = execution.rowsTaken;
    const rows = execution.takeRows(last);
    // Python's client does not look for segments in the answer to its POST, and no client gains from
    // them for its few rows.
    const encoding = nextToken(this.#turn) === 0 ? undefined : this.#parts.encoding;
    const isPlain = rows !== undefined && encoding === undefined;
    let page = this.#page(last, isPlain ? plainData(rows.bytes) : undefined);
    if (rows !== undefined && encoding !== undefined) {
      page = { ...page, data: keptData(await encoded(rows, rowOffset, encoding)) };
    }
    this.#upcoming = undefined;
    return this.#give(page);
  }

  /** The state at once, or a refusal that comes at once. */
  async #firstState(): Promise<Page> {
    await this.#execution.step(holds.refusalMs);
    return this.#give(this.#statePage());
  }

  /** Makes an answer of what is known. Called once for each, because changes and notices go with one only. */
  #page(last: boolean, data: Page["data"]): Page {
    const page: Page = {
      token: nextToken(this.#turn),
      next: last ? undefined : this.#links(),
      columns: this.#execution.columns,
      data,
      tail: this.#tail(last),
      headers: this.#headers(last),
    };
    this.#execution.carry();
    return page;
  }

  /** The state alone, for clients that read nothing else from the answer to their POST. */
  #statePage(): Page {
    return {
      token: nextToken(this.#turn),
      next: this.#parts.linksTo(nextToken(this.#turn) + 1, "queued"),
      columns: "",
      data: undefined,
      tail: this.#tail(false),
      headers: [],
    };
  }

  #links(): NonNullable<Page["next"]> {
    const phase = this.#execution.progress.queuedMs === undefined ? "queued" : "executing";
    return this.#parts.linksTo(nextToken(this.#turn) + 1, phase);
  }

  #give(page: Page): Page {
    const last = page.next === undefined;
    this.#turn = given(this.#turn, last);
    this.#last = page;
    if (last) this.#seeEnd(page);
    return page;
  }

  #seeEnd({ token }: Page): void {
    // A client that got the end with its POST has no link to ask again.
    if (token === 0 && this.polled.forget !== undefined) this.polled.forget();
    else void this.#execution.readEnd();
  }

  #tail(last: boolean): string {
    const { progress, elapsedMs, rowsTaken: rows } = this.#execution;
    return tailText({ progress, elapsedMs, rows, sql: this.#parts.sql }, last);
  }

  #headers(last: boolean): Page["headers"] {
    const { changes, error } = this.#execution.progress;
    const ending = last && error === undefined ? this.#parts.endHeaders : noHeaders;
    return changes.length === 0 ? ending : [...changes.flatMap(this.#parts.headersOf), ...ending];
  }
}

const noHeaders: Page["headers"] = [];
