/**
 * One attempt to reach an engine with one slot: everything it holds, given back in one place.
 *
 * A generator goes on only when it is asked for the next event, so a client that stopped reading would
 * keep a slot beyond every time limit. Here an abort itself ends the engine's stream and, when the
 * engine is done, gives the slot back. What the client is told waits until it reads.
 */
import { attemptOutcome } from "../../cluster/breaker.ts";
import type { EndAttempt } from "../../cluster/breakers.ts";
import { abortError, gatewayError, withoutPosition, type GatewayError } from "../../error.ts";
import type { AskScan } from "../../guard/scan.ts";
import type { PolicyLog } from "../../guard/told.ts";
import type { Asked } from "../../query/asked.ts";
import type { Backend, ScanEstimate } from "../../port/backend.ts";
import type { Host } from "../../port/host.ts";
import type { Course } from "../../query/course.ts";
import type { LastEvent, ResultStream } from "../../query/event.ts";
import type { Identified } from "../../query/query.ts";
import type { Slot } from "../../query/slot.ts";
import { err, type Result } from "../../result.ts";
import type { LateTold } from "../../snapshot/generation.ts";
import type { Question } from "./ask.ts";
import { identifiedOn, limitsOf } from "./identified.ts";
import { endedWhenLost, lateLossOf, lossAskedOf, lossOf } from "./lost.ts";
import { PatientReader } from "./patience.ts";
import type { Underway } from "./underway.ts";
import type { Way } from "./way.ts";

const estimating: Question<ScanEstimate> = {
  ask: async (backend, query, signal) =>
    (await backend.estimateScan?.(query, signal)) ?? err(gatewayError("query.unsupported")),
};

export class Attempt implements AsyncDisposable, LateTold {
  readonly #slot: Slot;
  readonly #underway: Underway;
  readonly #way: Way;
  readonly #host: Pick<Host, "clock" | "log">;
  #running: Disposable | undefined;
  #lost: Disposable | undefined;
  /** Tells breaker and health how the engine answered. Set once the engine is asked. */
  #tried: EndAttempt | undefined;
  #events: PatientReader | undefined;
  /** Resolves when the engine is done and the slot is given back, after an abort. */
  #freed: Promise<void> | undefined;
  #kept = false;

  /** Takes over the slot. */
  constructor(slot: Slot, underway: Underway, way: Way, host: Pick<Host, "clock" | "log">) {
    this.#slot = slot;
    this.#underway = underway;
    this.#way = way;
    this.#host = host;
  }

  /** Counts the query as running, translates and identifies. */
  identified(): Result<Identified, GatewayError> | Promise<Result<Identified, GatewayError>> {
    const { generation, policed } = this.#way;
    const limits = limitsOf(policed, generation);
    this.#running = this.#underway.running(this.#slot.cluster, generation, limits);
    this.#lost = endedWhenLost(this.#slot, this.#underway);
    const found = identifiedOn(this.#slot, policed, generation, this.#underway.signal);
    return found instanceof Promise ? found.then((one) => this.#noted(one)) : this.#noted(found);
  }

  #noted(found: Result<Identified, GatewayError>): Result<Identified, GatewayError> {
    if (found.ok) this.#underway.identified(found.value);
    return found;
  }

  /** What guards say of the text that the engine will be sent. Undefined where nobody is asked. */
  late(query: Identified): Promise<Result<readonly string[], GatewayError>> | undefined {
    return this.#way.generation.late(query, this, this.#underway.signal);
  }

  /** Hands the query to the cluster's adapter, which asks the engine with the first look at the events. */
  execute(query: Identified, whole: boolean = false): PatientReader {
    const { signal } = this.#underway;
    this.#try();
    const backend = this.#backend;
    const events = backend.course?.(query, signal, whole) ?? backend.execute(query, signal);
    const reader = this.#reads(events);
    if (signal.aborted) this.free();
    return reader;
  }

  /** Hands it to an adapter that sends it at once. Undefined where it does not: then nothing was begun. */
  send(query: Identified): Asked | undefined {
    const asked = this.#backend.ask?.(query, this.#underway.signal);
    if (asked !== undefined) this.#try();
    return asked;
  }

  /** Goes on with what was sent. Where the query was aborted meanwhile, `free` is to be called once that is begun. */
  follow(asked: Asked): PatientReader {
    return this.#reads(asked.course());
  }

  #reads(events: ResultStream | Course): PatientReader {
    const { signal } = this.#underway;
    this.#events = new PatientReader(events, this.#host.clock);
    if (!signal.aborted) signal.addEventListener("abort", this, { once: true });
    return this.#events;
  }

  /** Asks for one value, and checks before and after that the slot is still ours. */
  async ask<Answer>(
    question: Question<Answer>,
    query: Identified,
  ): Promise<Result<Answer, GatewayError>> {
    const { signal } = this.#underway;
    const lost = lossOf(this.#slot) && (await lossAskedOf(this.#slot));
    if (lost !== undefined) return err(lost);
    this.#try();
    const answer = await question.ask(this.#backend, query, signal);
    const late = lateLossOf(this.#slot);
    const unusable = signal.aborted ? abortError(signal) : late;
    if (!signal.aborted) this.#answered(answer.ok ? undefined : answer.error);
    if (unusable !== undefined) {
      if (answer.ok) await question.undo?.(answer.value);
      return err(unusable);
    }
    const rewritten = query.engineSql !== query.sql;
    return answer.ok || !rewritten ? answer : err(withoutPosition(answer.error));
  }

  /** Tells breaker and health how the engine answered. Without an answer nothing is said about the cluster. */
  ended(last: LastEvent): void {
    this.#answered(last.kind === "failed" ? last.error : undefined);
  }

  /** Hands the slot and its count as running over to a transaction, which gives them back. */
  keep(): { readonly slot: Slot; readonly running: Disposable } {
    this.#kept = true;
    return { slot: this.#slot, running: this.#running ?? { [Symbol.dispose]: () => {} } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  /** Disposes. A promise only where something is waited for. */
  end(): Promise<void> | undefined {
    this.#underway.signal.removeEventListener("abort", this);
    this.#tried?.("neutral");
    this.#lost?.[Symbol.dispose]();
    // An engine that ignores its cancel still runs the query, so the slot is free only when that is done.
    const ignored = this.#events?.ignored === true;
    if (ignored) this.#underway.remains(this.#freed ?? Promise.resolve());
    return ignored || this.#kept ? undefined : this.#giveBack();
  }

  /** What guards are told of goes into the record. */
  get log(): PolicyLog {
    return this.#underway;
  }

  /** As any question to the engine: one that can not be reached counts against its cluster. */
  askScan(query: Identified): ReturnType<AskScan> {
    return this.#backend.estimateScan === undefined ? undefined : this.ask(estimating, query);
  }

  get #backend(): Backend {
    return this.#way.generation.backend(this.#slot.cluster);
  }

  #try(): void {
    const { generation, policed } = this.#way;
    this.#tried = generation.attempt(policed.group, this.#slot.cluster);
  }

  #answered(error: GatewayError | undefined): void {
    this.#tried?.(attemptOutcome(error?.code));
    this.#tried = undefined;
  }

  /** The query was aborted. */
  handleEvent(): void {
    this.free();
  }

  /** Ending the stream and giving the slot back a second time does nothing. */
  free(): void {
    this.#events?.aborted();
    this.#freed = this.#endEvents().then(() => this.#giveBack());
  }

  #giveBack(): Promise<void> | undefined {
    this.#running?.[Symbol.dispose]();
    this.#running = undefined;
    const slot = this.#slot;
    if (slot.release === undefined) return Promise.resolve(slot[Symbol.asyncDispose]());
    slot.release();
    return undefined;
  }

  async #endEvents(): Promise<void> {
    try {
      await this.#events?.end();
    } catch (bug) {
      this.#host.log.bug(bug, { queryId: this.#underway.query.id });
    }
  }
}
