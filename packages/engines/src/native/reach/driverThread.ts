/**
 * The main side of one driver's thread, here or in a process of its own: sends a request, reads its
 * result as a stream, cancels it.
 *
 * A slow reader stops the engine: the thread may send a few messages ahead and then waits. Whoever
 * ends a stream early waits here until the engine has really stopped, because only then may anybody
 * else use the thread or the slot. A process that does not stop in time is killed; a thread can not be.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import { err } from "@gateway/core/result.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import { failureOf, type AdbcResult } from "../driver.ts";
import {
  isArrowLayout,
  readBatchMessage,
  readSchemaMessage,
  readWholeMessage,
} from "../arrow/ipc.ts";
import type {
  Reply,
  Executed,
  ListedTable,
  ObjectsRequest,
  Request,
  ResultMessage,
  StatementRequest,
  ThreadMessage,
} from "../message.ts";
import type { Reach, ReachEnd } from "./reach.ts";

/** How long a driver in a process may take before its process is killed. Milliseconds. */
export interface ProcessLimits {
  /** From a cancel to its answer. */
  readonly cancelMs: number;
  /** A cancel is repeated this often until the driver answers: one that comes before the engine began is lost. */
  readonly cancelAgainMs: number;
  /** To open, connect or close; undefined: as long as it takes, and a cancel gives it `cancelMs`. */
  readonly connectMs: number | undefined;
  /**
   * Others use the process too: a cancel during a connect does not end it, and the connect has its
   * `connectMs`.
   */
  readonly seated?: boolean;
}

/** What a statement's result is made of, in order: the columns, then batches. */
export type StreamEvent =
  | {
      readonly kind: "columns";
      readonly columns: readonly Column[];
      readonly statementType: number | undefined;
    }
  | { readonly kind: "batch"; readonly batch: ColumnarBatch };

export type StatementStream = AsyncGenerator<StreamEvent, AdbcResult<Executed>, void>;

/** Tables as they come, and at the end whether those were all. */
export type TableStream = AsyncGenerator<readonly ListedTable[], AdbcResult<boolean>, void>;

type Streamed = Extract<Request, { kind: "execute" | "objects" }>;

/** Messages that a thread may send before the first of them was read. Each has about 256 KiB, or as many bytes as were asked for. */
const messagesAhead = 4;

/** The same for a thread of this process, which has no other limits: it can not be ended. */
const cancelAgainMs = 20;

const cancelled = failureOf("cancelled", "the statement was cancelled");

/** What is known of the request under way. */
interface Pending {
  readonly messages: ThreadMessage[];
  wake: (() => void) | undefined;
  /** Resolved when the answer has arrived, which may be before anybody reads it. */
  readonly answered: Promise<void>;
  readonly onReply: () => void;
}

function newPending(): Pending {
  let onReply = nothing;
  const answered = new Promise<void>((resolve) => {
    onReply = resolve;
  });
  return { messages: [], wake: undefined, answered, onReply };
}

function nothing(): void {}

export class DriverThread {
  readonly #reach: Reach;
  readonly #limits: ProcessLimits | undefined;
  readonly #clock: Clock;
  #pending: Pending | undefined;
  #ended = false;
  #leaving: Promise<void> | undefined;
  #gone = failureOf("broken", "the driver has ended");

  /** `limits` are those of a process; without them what hangs is waited for. */
  constructor(reach: Reach, clock: Clock, limits?: ProcessLimits) {
    this.#reach = reach;
    this.#limits = limits;
    this.#clock = clock;
    reach.onMessages((messages) => this.#received(messages));
    reach.onEnd((end) => this.#exited(end));
  }

  /** False once the thread is gone; it can not be used again. */
  get alive(): boolean {
    return !this.#ended && this.#reach.alive;
  }

  /** Runs a statement. Nothing else may be asked of this thread before the generator has ended. */
  execute(statement: StatementRequest, signal: AbortSignal): StatementStream {
    return this.#stream({ kind: "execute", statement }, signal, rowReader(statement), executedOf);
  }

  /** Lists tables, some at a time; the end says whether those were all. The same rules as for `execute`. */
  list(objects: ObjectsRequest, signal: AbortSignal): TableStream {
    return this.#stream({ kind: "objects", objects }, signal, readTables, listedOf);
  }

  async *#stream<Event, End>(
    request: Streamed,
    signal: AbortSignal,
    read: (message: ResultMessage) => Event,
    endOf: (answer: AdbcResult<Reply>) => AdbcResult<End>,
  ): AsyncGenerator<Event, AdbcResult<End>, void> {
    if (signal.aborted) return err(cancelled);
    const pending = this.#begin(request);
    using cancelling = this.#cancelOn(signal);
    let answered = false;
    try {
      for (;;) {
        const message = await this.#next(pending);
        if (message.kind === "reply") {
          answered = true;
          return signal.aborted ? err(cancelled) : endOf(message.reply);
        }
        // What was sent before the cancel was seen is nobody's any more.
        if (signal.aborted) {
          dropped(message);
          continue;
        }
        yield read(message);
        // The schema came without being asked for.
        if (message.kind !== "schema") this.#reach.addCredit();
      }
    } finally {
      if (!answered) {
        cancelling.now();
        await this.#dropRest(pending);
      }
      this.#finish(pending);
    }
  }

  /** Asks for anything that is answered at once. An abort cancels what the driver is doing. */
  async ask(request: Exclude<Request, Streamed>, signal?: AbortSignal): Promise<AdbcResult<Reply>> {
    if (signal?.aborted === true) return err(cancelled);
    const pending = this.#begin(request);
    using _cancelling = signal === undefined ? undefined : this.#cancelOn(signal, request.kind);
    using _limit = this.#limitOf(request);
    try {
      for (;;) {
        const message = await this.#next(pending);
        if (message.kind === "reply") return message.reply;
      }
    } finally {
      this.#finish(pending);
    }
  }

  /**
   * Cancels what is under way and waits until the driver has stopped, whether or not anybody still
   * reads the result. Afterwards the thread can be asked again.
   */
  async settle(): Promise<void> {
    const pending = this.#pending;
    if (pending === undefined) return;
    const never = new AbortController();
    using cancelling = this.#cancelOn(never.signal);
    cancelling.now();
    await pending.answered;
    this.#finish(pending);
  }

  /** Gives the thread up: ended as soon as it is not inside a native call, or left to others. */
  end(): Promise<void> {
    this.#leaving ??= this.#end();
    return this.#leaving;
  }

  async #end(): Promise<void> {
    // What it has open would stay in the process.
    if (this.#limits?.seated === true && !this.#ended) await this.ask({ kind: "vacate" });
    this.#ended = true;
    await this.#reach.leave();
  }

  #begin(request: Request): Pending {
    if (this.#pending !== undefined) throw new Error("a driver's thread was asked twice at once");
    const pending = newPending();
    this.#pending = pending;
    if (this.#ended) {
      this.#received([{ kind: "reply", reply: err(this.#gone) }]);
      return pending;
    }
    this.#reach.ref(true);
    this.#reach.post(request, messagesAhead);
    return pending;
  }

  #finish(pending: Pending): void {
    if (this.#pending !== pending) return;
    this.#pending = undefined;
    this.#reach.ref(false);
  }

  async #next(pending: Pending): Promise<ThreadMessage> {
    for (;;) {
      const message = pending.messages.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        pending.wake = resolve;
      });
    }
  }

  /** What is left of an answer that nobody reads. */
  async #dropRest(pending: Pending): Promise<void> {
    for (;;) {
      const message = await this.#next(pending);
      if (message.kind === "reply") return;
      dropped(message);
    }
  }

  #received(messages: readonly ThreadMessage[]): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    pending.messages.push(...messages);
    if (messages.some(({ kind }) => kind === "reply")) pending.onReply();
    pending.wake?.();
    pending.wake = undefined;
  }

  #exited({ crashed, reason }: ReachEnd): void {
    this.#ended = true;
    this.#gone = failureOf(crashed ? "crashed" : "broken", reason);
    this.#received([{ kind: "reply", reply: err(this.#gone) }]);
  }

  /** Ends a process whose driver takes too long to open, connect or close. What runs for a client has no limit here. */
  #limitOf({ kind }: Request): Disposable | undefined {
    const limitMs = this.#limits?.connectMs;
    return limitMs === undefined || unlimited.has(kind) ? undefined : this.#killAfter(limitMs);
  }

  #killAfter(delayMs: number): Disposable {
    return this.#clock.timer(delayMs, () => this.#reach.kill());
  }

  /**
   * Cancels when the signal says so, and again until disposed. `now` does it without the signal. A process
   * that is still connecting has nothing that could be cancelled, and is killed.
   */
  #cancelOn(signal: AbortSignal, kind: Request["kind"] = "execute"): Disposable & { now(): void } {
    let timer: Disposable | undefined;
    let limit: Disposable | undefined;
    let over = false;
    const againMs = this.#limits?.cancelAgainMs ?? cancelAgainMs;
    const now = (): void => {
      if (over || this.#ended) return;
      this.#reach.cancel();
      const graceMs = graceOf(kind, this.#limits);
      if (graceMs !== undefined) limit ??= this.#killAfter(graceMs);
      timer = this.#clock.timer(againMs, now);
    };
    const onAbort = (): void => {
      timer?.[Symbol.dispose]();
      now();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    return {
      now: onAbort,
      [Symbol.dispose]: () => {
        over = true;
        timer?.[Symbol.dispose]();
        limit?.[Symbol.dispose]();
        signal.removeEventListener("abort", onAbort);
      },
    };
  }
}

/** How long a cancel is waited for; undefined: as long as it takes. What only connects has nothing that could be cancelled. */
function graceOf(kind: Request["kind"], limits: ProcessLimits | undefined): number | undefined {
  if (limits === undefined) return undefined;
  const { cancelMs, connectMs, seated = false } = limits;
  if (unlimited.has(kind) || connectMs === undefined) return cancelMs;
  return seated ? undefined : 0;
}

/** Requests that a client waits for, and may cancel at any time. */
const unlimited: ReadonlySet<Request["kind"]> = new Set([
  "execute",
  "describe",
  "begin",
  "end",
  "objects",
  "catalogs",
  "schemas",
]);

/** A message that nobody reads. */
function dropped(message: ResultMessage): void {
  if (message.kind === "batch") message.release?.();
}

/** Reads the messages of one statement's result: its columns first. */
function rowReader({ messageBytes }: StatementRequest): (message: ResultMessage) => StreamEvent {
  // Only who asked for large messages wants them as they are.
  let isWhole = messageBytes !== undefined;
  let types: readonly Column["type"][] = [];
  return (message) => {
    if (message.kind === "schema") {
      const columns = readSchemaMessage(message.message);
      types = columns.map(({ type }) => type);
      isWhole &&= types.every(isArrowLayout);
      return { kind: "columns", columns, statementType: message.statementType };
    }
    if (message.kind === "tables") throw new Error("a statement answered by tables");
    const batch = isWhole
      ? readWholeMessage(message.message, types, message.release)
      : readBatchMessage(message.message, types);
    return { kind: "batch", batch };
  };
}

function readTables(message: ResultMessage): readonly ListedTable[] {
  if (message.kind !== "tables") throw new Error("a listing answered by rows");
  return message.tables;
}

function listedOf(answer: AdbcResult<Reply>): AdbcResult<boolean> {
  if (!answer.ok) return answer;
  if (answer.value.kind !== "listed") throw new Error("a listing answered by something else");
  return { ok: true, value: answer.value.complete };
}

function executedOf(answer: AdbcResult<Reply>): AdbcResult<Executed> {
  if (!answer.ok) return answer;
  if (answer.value.kind !== "executed") throw new Error("a statement answered by something else");
  return { ok: true, value: answer.value.executed };
}
