/**
 * Runs the life of a worker's configuration: takes the events of its sources one after the other, has
 * snapshots compiled beside the active one, and swaps each in at once.
 *
 * A port compiles, opens and closes; lifecycle.ts decides what may be taken. A snapshot that could not be
 * opened is tried again while it is the newest: what it needs (a mounted secret, a file) may come later.
 */
import { revisionText, sameRevision, type Revision } from "@gateway/contract/revision.ts";
import type { ConfigSource, SourceEvent, Offer, OfferSource } from "../port/configSource.ts";
import type { Host } from "../port/host.ts";
import { deferred } from "../tool/pause.ts";
import type { LogFields } from "../port/log.ts";
import { err, type Result } from "../result.ts";
import {
  judgeEvent,
  lifeAfter,
  newLife,
  takenOf,
  type ConfigLife,
  type ConfigOutcome,
  type Judgement,
  type Rejection,
  type TakenConfig,
} from "./lifecycle.ts";
import { refusalText, type OfferLimits } from "./offer.ts";

/** A snapshot that opens for longer is given up: one dead cluster must not hold back the next revision. */
export const compileMsMax = 60_000;
/** First and longest pause before a snapshot that could not be opened is tried again. */
const retryMsMin = 5_000;
const retryMsMax = 60_000;

export interface LifecycleParts<Body, Opened> {
  readonly host: Pick<Host, "clock" | "log">;
  readonly source: ConfigSource<Body>;
  limitsOf(source: OfferSource): OfferLimits;
  /** Opens everything that the snapshot names; or gives every reason why not, and leaves nothing open. */
  compile(
    body: Body,
    revision: Revision,
    signal: AbortSignal,
  ): Promise<Result<Opened, readonly string[]>>;
  /** The snapshot is active when the call returns; resolves when the previous one is released and closed. */
  swap(opened: Opened): Promise<void>;
  /** Closes what was opened too late to be used. */
  discard(opened: Opened): Promise<void>;
  /** A snapshot was not taken. Called once for each, however often opening it is tried. */
  rejected(rejection: Rejection): void;
  /** After each change; `body` is undefined while nothing is active. */
  changed(life: ConfigLife, body: Body | undefined): void;
}

export interface RunningLifecycle<Body> extends AsyncDisposable {
  life(): ConfigLife;
  /** What is active, with its newest head. */
  active(): { readonly taken: TakenConfig; readonly body: Body } | undefined;
}

/** Begins to follow the source; disposing stops and closes nothing that is active. */
export function runLifecycle<Body, Opened>(
  parts: LifecycleParts<Body, Opened>,
): RunningLifecycle<Body> {
  return new Loop(parts);
}

type Compiling<Body> = Extract<Judgement<Body>, { kind: "compile" }>;

interface Retry<Body> {
  readonly event: SourceEvent<Body>;
  readonly revision: Revision;
  readonly pauseMs: number;
  readonly dueAtMs: number;
}

class Loop<Body, Opened> implements RunningLifecycle<Body> {
  readonly #parts: LifecycleParts<Body, Opened>;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  /** Generations on their way out, and openings that came too late. */
  readonly #closing = new Set<Promise<void>>();
  #life: ConfigLife = newLife;
  #body: Body | undefined;
  #retry: Retry<Body> | undefined;
  /** The last log line about a snapshot that was not taken: the same line is not written twice in a row. */
  #said = "";
  /** The last snapshot that could not be opened: it is counted once. */
  #counted: Revision | undefined;

  constructor(parts: LifecycleParts<Body, Opened>) {
    this.#parts = parts;
    this.#running = this.#run().catch((bug: unknown) => parts.host.log.bug(bug));
  }

  life(): ConfigLife {
    return this.#life;
  }

  active(): { readonly taken: TakenConfig; readonly body: Body } | undefined {
    const taken = takenOf(this.#life);
    return taken === undefined || this.#body === undefined
      ? undefined
      : { taken, body: this.#body };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(this.#closing);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const events = this.#parts.source.events(signal)[Symbol.asyncIterator]();
    let next = events.next();
    while (!signal.aborted) {
      const came = await this.#nextOrRetry(next);
      if (signal.aborted) break;
      if (came === "retry") {
        await this.#again();
        continue;
      }
      if (came.done === true) break;
      await this.#take(came.value);
      next = events.next();
    }
    // A source ends its own waits when the signal aborts.
    await events.return?.(undefined);
  }

  /** The next event, unless a retry falls due before. */
  async #nextOrRetry(
    next: Promise<IteratorResult<SourceEvent<Body>>>,
  ): Promise<IteratorResult<SourceEvent<Body>> | "retry"> {
    const retry = this.#retry;
    if (retry === undefined) return next;
    const { clock } = this.#parts.host;
    const due = deferred<"retry">();
    using _timer = clock.timer(retry.dueAtMs - clock.nowMs(), () => due.resolve("retry"));
    return await Promise.race([next, due.promise]);
  }

  async #again(): Promise<void> {
    const retry = this.#retry;
    if (retry !== undefined) await this.#take(retry.event);
  }

  async #take(event: SourceEvent<Body>): Promise<void> {
    const judged = this.#judge(event);
    if (judged.kind === "ignore") {
      if (judged.refusal === undefined) return;
      const reason = refusalText(judged.refusal);
      return this.#say("info", "worker.configIgnored", { reason });
    }
    if (judged.kind === "outcome") return this.#settle(judged.outcome, undefined);
    await this.#compile(judged, event);
  }

  #judge(event: SourceEvent<Body>): Judgement<Body> {
    const source = event.kind === "offer" ? event.offer.source : event.source;
    const nowMs = this.#parts.host.clock.unixMs();
    return judgeEvent(this.#life, event, nowMs, this.#parts.limitsOf(source));
  }

  async #compile({ offer, head, body }: Compiling<Body>, event: SourceEvent<Body>): Promise<void> {
    const opened = await this.#opened(body, offer.revision);
    if (this.#stopping.signal.aborted) {
      if (opened.ok) this.#close(this.#parts.discard(opened.value));
      return;
    }
    if (!opened.ok) {
      this.#planRetry(event, offer);
      const { source, revision } = offer;
      const reason = opened.error.join("; ");
      const rejection = { source, revision, stage: "compile", reason } as const;
      return this.#settle({ kind: "rejected", rejection }, undefined);
    }
    this.#retry = undefined;
    const kind = offer.source === "controlPlane" ? "fetched" : "copied";
    this.#close(this.#parts.swap(opened.value));
    this.#body = body;
    this.#settle({ kind, offer, head }, revisionText(offer.revision));
  }

  /** The compiled snapshot, or why there is none; takes at most `compileMsMax` and never throws. */
  async #opened(body: Body, revision: Revision): Promise<Result<Opened, readonly string[]>> {
    const { host } = this.#parts;
    const giveUp = new AbortController();
    const late = deferred<undefined>();
    const stop = (): void => late.resolve(undefined);
    using _limit = host.clock.timer(compileMsMax, stop);
    this.#stopping.signal.addEventListener("abort", stop, { once: true });
    const work = this.#parts.compile(body, revision, giveUp.signal).catch((bug: unknown) => {
      host.log.bug(bug, { revision: revisionText(revision) });
      return err(["internal failure"]);
    });
    const first = await Promise.race([work, late.promise]);
    this.#stopping.signal.removeEventListener("abort", stop);
    if (first !== undefined) return first;
    giveUp.abort();
    this.#close(work.then((opened) => (opened.ok ? this.#parts.discard(opened.value) : undefined)));
    return err([`opening it took longer than ${compileMsMax / 1_000} s`]);
  }

  #planRetry(event: SourceEvent<Body>, { revision }: Offer): void {
    const before = this.#retry;
    const again = before !== undefined && sameRevision(before.revision, revision);
    const pauseMs = again ? Math.min(before.pauseMs * 2, retryMsMax) : retryMsMin;
    const dueAtMs = this.#parts.host.clock.nowMs() + pauseMs;
    this.#retry = { event, revision, pauseMs, dueAtMs };
  }

  #settle(came: ConfigOutcome, activated: string | undefined): void {
    const { host } = this.#parts;
    const { life, action } = lifeAfter(this.#life, came, host.clock.unixMs());
    this.#life = life;
    // What runs is what the control plane serves: nothing is left to try again.
    if (came.kind === "confirmed") this.#retry = undefined;
    if (came.kind === "rejected") this.#report(came.rejection);
    else if (came.kind !== "unreachable" && came.kind !== "reminded") this.#said = "";
    if (action === "swap") {
      const source = takenOf(life)?.source;
      host.log.write("info", "worker.configActive", { revision: activated, source });
    }
    if (action === "vouch") host.log.write("info", "worker.configConfirmed", {});
    this.#parts.changed(life, this.#body);
  }

  #report(rejection: Rejection): void {
    const { source, stage, revision, reason } = rejection;
    const text = revision === undefined ? undefined : revisionText(revision);
    this.#say("error", "worker.configRejected", { source, stage, revision: text, reason });
    if (stage === "compile" && revision !== undefined) {
      if (this.#counted !== undefined && sameRevision(this.#counted, revision)) return;
      this.#counted = revision;
    }
    this.#parts.rejected(rejection);
  }

  /** Writes a line unless it repeats the one before. */
  #say(level: "info" | "error", event: string, fields: LogFields): void {
    const line = JSON.stringify([event, fields]);
    if (line === this.#said) return;
    this.#said = line;
    this.#parts.host.log.write(level, event, fields);
  }

  #close(closing: Promise<void>): void {
    const closed = closing.catch((bug: unknown) => this.#parts.host.log.bug(bug));
    this.#closing.add(closed);
    void closed.then(() => this.#closing.delete(closed));
  }
}
