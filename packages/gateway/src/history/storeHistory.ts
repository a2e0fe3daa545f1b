/**
 * Records on their way to a store: redacted, batched, tried again until they are kept, and counted
 * wherever one is lost. The query path never waits for any of it.
 *
 * Redacting, hashing and the log line happen in a turn of the event loop some milliseconds after the
 * query's last byte, a few records at a time; where the store is in the same thread and the record is
 * short, at once. Sending twice is harmless: a store keeps the first record of an id.
 */
import { recordBatchMax, type QueryRecord } from "@gateway/contract/record.ts";
import type { IncomingRecord, Ingested, RecordStore } from "@gateway/control/store/store.ts";
import { incomingRecord } from "@gateway/control/store/written.ts";
import type { History } from "@gateway/core/port/history.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { redact, type Redaction } from "@gateway/core/record/redact.ts";
import type { Result } from "@gateway/core/result.ts";
import { deferred } from "@gateway/core/tool/pause.ts";
import { Backlog, historyFamilies } from "./backlog.ts";
import type { QueryBook } from "./queryBook.ts";
import { writeQueryLine, writeQueryText } from "./queryLine.ts";

/** Records that may wait; beyond it the oldest are dropped and counted. */
const waitingMax = 50_000;
/** Characters that may wait, for the same reason: one statement may be a megabyte. */
const waitingCharsMax = 64_000_000;
/** Characters of one batch, counted both in the record and in its written form. A longer record goes alone. */
const batchCharsMax = 8_000_000;
/** How long a record waits for others to make a batch; its wait for a turn is part of that. */
const batchMs = 200;
/** How long a record waits for the next query. While that one waits for its engine, the turn delays nobody. */
const turnMs = 5;
/** A store that has not answered by then is asked again. */
const answerMsMax = 30_000;
const retryMs = 1_000;
const retryMsMax = 60_000;
/** Records made ready in one turn of the event loop, some 15 µs each, and characters of them. */
const turnRecords = 8;
const turnChars = 100_000;
/** Characters of a record that goes to a store in the same thread at once. */
const littleChars = 4_000;

export interface StoreHistoryParts {
  readonly host: Pick<Host, "clock" | "random" | "log" | "metrics">;
  readonly keep: RecordStore["ingest"];
  /** The redaction of the configuration as it is now. */
  readonly redaction: () => Redaction;
  /** Also log each statement's text, its literals masked. */
  readonly texts: boolean;
  /** Remembers over a kill which queries had no record. Absent where nothing outlives the process. */
  readonly book?: QueryBook | undefined;
  /** Of a store in the same thread: a record goes there alone, and waits for nothing. */
  readonly keepNow?: RecordStore["keepNow"];
  /** Records of one batch at most, `recordBatchMax` unless told. */
  readonly batchRecordsMax?: number;
}

export interface StoreHistory extends History {
  /**
   * Sends what waits; resolves when all of it is kept, or when `deadline` is aborted. Then the rest is
   * dropped and counted, and so is everything appended later. Never rejects.
   */
  flush(deadline: AbortSignal): Promise<void>;
}

/** Makes the history of a process that has a store. */
export function storeHistory(parts: StoreHistoryParts): StoreHistory {
  return new Sender(parts);
}

type Outcome = Result<Ingested, { readonly detail: string }>;

class Sender implements StoreHistory {
  readonly #parts: StoreHistoryParts;
  readonly #queued;
  readonly #sent;
  readonly #dropped;
  /** As the pipeline made them. */
  readonly #fresh = new Backlog<QueryRecord>(charsOf);
  /** Redacted and written. */
  readonly #ready = new Backlog<IncomingRecord>(
    ({ record, parts }) => charsOf(record) + (parts ? parts.rest.length + parts.shared.length : 0),
  );
  /** Taken out of `#ready` and not known to be kept. */
  #sending: readonly IncomingRecord[] = [];
  readonly #batchMax: number;
  #turnPlanned = false;
  /**
   * Timer until the turn that makes fresh records ready, if none came by itself. One stays while queries come: to end
   * and begin one for each of them costs as much as a tenth of its record.
   */
  #turnWait: Disposable | undefined;
  /** A turn came since the timer began. */
  #turned = false;
  readonly #turnDue = (): void => {
    this.#turnWait = undefined;
    if (this.#fresh.size === 0) return;
    if (this.#turned) this.#waitForTurn();
    else this.#turnNow();
  };
  readonly #turnNow = (): void => {
    if (this.#turnPlanned) return;
    this.#turnPlanned = true;
    this.#turnNext();
  };
  readonly #turnNext = (): void => {
    setImmediate(this.#turn);
  };
  readonly #turn = (): void => {
    this.#turnPlanned = false;
    this.#turned = true;
    for (const record of this.#fresh.take(turnRecords, turnChars)) this.#makeReady(record);
    if (this.#fresh.size > 0) this.#turnNow();
    if (!this.#worthWaiting) this.#wake?.("full");
    if (!this.#running && this.#ready.size > 0) void this.#run();
    this.#settle();
  };
  #running = false;
  #hurry = false;
  #ended = false;
  #failures = 0;
  /** Records are being dropped because too many wait; said once. */
  #full = false;
  /** Ends the wait that is under way. */
  #wake: ((reason: "full" | "hurry") => void) | undefined;
  #onIdle: (() => void)[] = [];

  constructor(parts: StoreHistoryParts) {
    this.#parts = parts;
    this.#batchMax = parts.batchRecordsMax ?? recordBatchMax;
    const { metrics } = parts.host;
    this.#queued = metrics.gauge(historyFamilies.queued, {});
    this.#sent = metrics.counter(historyFamilies.sent, {});
    this.#dropped = metrics.counter(historyFamilies.dropped, {});
  }

  /** Plans the turn for fresh records: it comes while this query waits for its engine, so it delays nobody. */
  begin(queryId: string): void {
    this.#parts.book?.begin(queryId);
    if (this.#turnPlanned || this.#fresh.size === 0) return;
    // One turn later: the very next one may write this query to its engine.
    this.#turnPlanned = true;
    setImmediate(this.#turnNext);
  }

  append(record: QueryRecord): void {
    if (this.#ended) return this.#gone([record.proxyQueryId]);
    if (this.#takesLittle(record)) return this.#makeReady(record);
    this.#fresh.push(record);
    while (this.#waiting > waitingMax || this.#chars > waitingCharsMax) this.#dropOldest();
    this.#queued.set(this.#waiting);
    if (this.#hurry || this.#fresh.size >= turnRecords) this.#turnNow();
    else if (!this.#turnPlanned && this.#turnWait === undefined) this.#waitForTurn();
  }

  /**
   * To make it ready takes less than the turn of its own that it would wait for: everything of it is at hand here, and
   * the queries behind it find the event loop free.
   */
  #takesLittle(record: QueryRecord): boolean {
    const { keepNow, redaction } = this.#parts;
    if (keepNow === undefined || this.#fresh.size > 0 || redaction() !== "full") return false;
    return charsOf(record) < littleChars;
  }

  #waitForTurn(): void {
    this.#turned = false;
    this.#turnWait = this.#parts.host.clock.timer(turnMs, this.#turnDue);
  }

  async flush(deadline: AbortSignal): Promise<void> {
    this.#hurry = true;
    if (this.#fresh.size > 0) this.#turnNow();
    this.#wake?.("hurry");
    await this.#idleOr(deadline);
    this.#hurry = false;
    if (this.#waiting > 0) this.#giveUp();
    if (deadline.aborted) this.#ended = true;
  }

  get #waiting(): number {
    return this.#fresh.size + this.#ready.size + this.#sending.length;
  }

  get #chars(): number {
    return this.#fresh.weight + this.#ready.weight;
  }

  /** The next batch may still grow. In a hurry it takes only what is here already. */
  get #worthWaiting(): boolean {
    return this.#ready.size < this.#batchMax && (!this.#hurry || this.#fresh.size > 0);
  }

  #dropOldest(): void {
    const ready = this.#ready.take(1);
    this.#gone(ready.length > 0 ? idsOf(ready) : this.#fresh.take(1).map(idOf));
    if (!this.#full)
      this.#parts.host.log.write("error", "history.full", { waiting: this.#waiting });
    this.#full = true;
  }

  #makeReady(record: QueryRecord): void {
    const { host, texts, redaction, book, keepNow } = this.#parts;
    try {
      const redacted = redact(record, redaction());
      writeQueryLine(redacted, host.log);
      if (texts) writeQueryText(record, host.log);
      if (keepNow === undefined) this.#ready.push(incomingRecord(redacted));
      else {
        keepNow(redacted);
        this.#sent.add(1);
      }
      book?.ended(record.proxyQueryId);
      if (keepNow !== undefined) book?.kept([record.proxyQueryId]);
    } catch (bug) {
      host.log.bug(bug, { queryId: record.proxyQueryId });
      this.#gone([record.proxyQueryId]);
    }
  }

  /** Sends batches, one at a time, until nothing is ready. Never rejects. */
  async #run(): Promise<void> {
    this.#running = true;
    while (this.#ready.size > 0) {
      if (this.#worthWaiting) await this.#wait(batchMs - turnMs, "full");
      const batch = this.#ready.take(this.#batchMax, batchCharsMax);
      this.#sending = batch;
      if (batch.length > 0) await this.#deliver(batch);
      if (!this.#ended) this.#sending = [];
    }
    this.#running = false;
    this.#settle();
  }

  /** Tries until the batch is kept, refused for good, or given up. */
  async #deliver(batch: readonly IncomingRecord[]): Promise<void> {
    for (;;) {
      const outcome = await this.#ask(batch);
      if (this.#ended) return;
      if (outcome.ok) return this.#kept(batch, outcome.value);
      const { detail } = outcome.error;
      if (isRefusal(detail)) return this.#refused(batch, detail);
      this.#unavailable(detail);
      await this.#wait(this.#backOffMs(), "hurry");
      if (this.#ended) return;
    }
  }

  #kept(batch: readonly IncomingRecord[], answer: Ingested): void {
    const { log } = this.#parts.host;
    if (this.#failures > 0) log.write("info", "history.recovered", { failures: this.#failures });
    this.#failures = 0;
    this.#full = false;
    for (const queryId of answer.conflicts) log.write("warn", "history.conflict", { queryId });
    const known = answer.accepted + answer.duplicates + answer.conflicts.length;
    const kept = Math.min(known, batch.length);
    this.#sent.add(kept);
    // The store does not say which ones it did not take.
    if (kept < batch.length) this.#lost(idsOf(batch.slice(kept)), "notTaken");
    this.#parts.book?.kept(idsOf(batch));
    this.#done(batch.length);
  }

  /** One record that a store can not hold must not keep the others out: each goes alone. */
  async #refused(batch: readonly IncomingRecord[], detail: string): Promise<void> {
    if (batch.length === 1) {
      this.#lost(idsOf(batch), detail);
      return this.#done(1);
    }
    for (const record of batch) {
      if (this.#ended) return;
      await this.#deliver([record]);
    }
  }

  #unavailable(detail: string): void {
    this.#failures += 1;
    if (this.#failures > 1) return;
    this.#parts.host.log.write("warn", "history.unavailable", { detail, waiting: this.#waiting });
  }

  /** Full jitter, so that many processes do not come back at one moment; short while a shutdown waits. */
  #backOffMs(): number {
    const doubled = retryMs * 2 ** Math.min(this.#failures - 1, 16);
    return this.#parts.host.random() * (this.#hurry ? retryMs : Math.min(doubled, retryMsMax));
  }

  /** Asks the store, and gives up after `answerMsMax`. */
  async #ask(batch: readonly IncomingRecord[]): Promise<Outcome> {
    const { host, keep } = this.#parts;
    const { promise, resolve } = deferred<Outcome>();
    using _limit = host.clock.timer(answerMsMax, () => resolve(failure("noAnswer")));
    this.#wakeOnEnd(resolve);
    const asked = Promise.resolve().then(() => keep(batch, host.clock.unixMs()));
    asked.then(resolve, (bug: unknown) => {
      host.log.bug(bug);
      resolve(failure("bug"));
    });
    const outcome = await promise;
    this.#wake = undefined;
    return outcome;
  }

  /** In a function of its own: what `#wake` was lives on for a while, and must not keep the batch with it. */
  #wakeOnEnd(resolve: (outcome: Outcome) => void): void {
    this.#wake = () => {
      if (this.#ended) resolve(failure("ended"));
    };
  }

  /** Resolves after `ms`. A hurry ends it earlier, and so does a full batch when `until` is `full`. */
  async #wait(ms: number, until: "full" | "hurry"): Promise<void> {
    const { promise, resolve } = deferred<void>();
    using _timer = this.#parts.host.clock.timer(ms, () => resolve());
    this.#wake = (reason) => {
      if (reason === "hurry" || until === "full") resolve();
    };
    await promise;
    this.#wake = undefined;
  }

  #done(count: number): void {
    if (this.#ended) return;
    this.#sending = this.#sending.slice(count);
    this.#settle();
  }

  #lost(queryIds: readonly string[], detail: string): void {
    this.#gone(queryIds);
    this.#parts.host.log.write("error", "history.dropped", { count: queryIds.length, detail });
  }

  #gone(queryIds: readonly string[]): void {
    this.#dropped.add(queryIds.length);
    this.#parts.book?.lost(queryIds);
  }

  #settle(): void {
    this.#queued.set(this.#waiting);
    if (this.#waiting > 0) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }

  async #idleOr(deadline: AbortSignal): Promise<void> {
    if (this.#waiting === 0 || deadline.aborted) return;
    const { promise, resolve } = deferred<void>();
    this.#onIdle.push(resolve);
    const onAbort = (): void => resolve();
    deadline.addEventListener("abort", onAbort, { once: true });
    await promise;
    deadline.removeEventListener("abort", onAbort);
  }

  /** A record that was sent without an answer counts as lost, although the store may have kept it. */
  #giveUp(): void {
    this.#ended = true;
    this.#turnWait?.[Symbol.dispose]();
    this.#turnWait = undefined;
    const left = this.#waiting;
    const fresh = this.#fresh.take(left).map(idOf);
    this.#lost([...idsOf(this.#sending), ...idsOf(this.#ready.take(left)), ...fresh], "deadline");
    this.#sending = [];
    this.#settle();
    this.#wake?.("hurry");
  }
}

function idOf({ proxyQueryId }: QueryRecord): string {
  return proxyQueryId;
}

function idsOf(batch: readonly IncomingRecord[]): readonly string[] {
  return batch.map(({ record }) => record.proxyQueryId);
}

/** SQLSTATE classes 22 (the value) and 23 (a constraint): the same record would be refused again. */
function isRefusal(detail: string): boolean {
  return /^2[23][0-9A-Z]{3}$/.test(detail);
}

/** About how many characters a record takes in memory and in a statement. */
function charsOf({ sql, translatedSql, errorMessage }: QueryRecord): number {
  const texts = (sql?.length ?? 0) + (translatedSql?.length ?? 0) + (errorMessage?.length ?? 0);
  return texts + fieldsChars;
}

/** All fields but the long texts. */
const fieldsChars = 500;

function failure(detail: string): Outcome {
  return { ok: false, error: { detail } };
}
