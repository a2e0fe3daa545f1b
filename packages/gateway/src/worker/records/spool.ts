/**
 * The history of a worker: records wait in a bounded queue, travel in batches, and are tried again
 * until they are taken or counted as lost. The query path only puts a record into a list.
 *
 * Redaction happens in a turn of the event loop after the query's last byte, before a record is kept
 * in any form: neither a batch nor the disk ever holds more than the configuration allows.
 */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { recordBatchMax, recordSchemaVersion, type QueryRecord } from "@gateway/contract/record.ts";
import type { History } from "@gateway/core/port/history.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { z } from "zod";
import { Backlog, historyFamilies } from "../../history/backlog.ts";
import { retryAfterOf } from "../link/fleetCalls.ts";
import { pause, type Wake } from "@gateway/core/tool/pause.ts";
import { backoffOf } from "../link/backoff.ts";
import { jsonIn } from "../link/presence.ts";
import type { SpoolDisk, SpoolEntry } from "./spoolDisk.ts";
import { uplinkFailureText, type Uplink, type UplinkFailure } from "./uplink.ts";

export interface SpoolParts {
  readonly host: Pick<Host, "clock" | "log" | "metrics" | "random">;
  readonly uplink: Uplink;
  /** The registered name. */
  readonly worker: string;
  /** Config: `history.spoolMaxRecords`. */
  readonly recordsMax: number;
  /** Redacts by the configuration that is active now. */
  prepare(record: QueryRecord): QueryRecord;
  /** Keeps what waits across restarts. Config: `history.spool: disk`. */
  readonly disk: SpoolDisk | undefined;
  /** Makes a gzip member of a batch. A simulation passes its own, because no seed decides when threads run. */
  readonly compress?: (text: string) => Promise<Uint8Array>;
}

/** `historyUplink` of the worker status. */
export interface UplinkStatus {
  readonly queued: number;
  readonly sent: number;
  /** With a spool on disk since its folder was made, otherwise since the start. */
  readonly dropped: number;
  readonly lastError: string | undefined;
  /** Why nothing can be kept over a restart; undefined when it can, or is not wanted. */
  readonly diskError: string | undefined;
}

export interface Spool extends History {
  /** As in every history. The spool need not know which query it is. */
  begin(): void;
  status(): UplinkStatus;
  /**
   * Sends what waits. Resolves when all of it is taken, or when `deadline` aborts. The rest stays
   * on disk. Without a disk it is dropped and counted, and so is what is appended later.
   */
  close(deadline: AbortSignal): Promise<void>;
}

const gzipped = promisify(gzip);

/** How long a record waits for others to make a batch. */
const batchMs = 200;
/** Characters of one batch; a longer record goes alone. A control plane reads 16 MB. */
const batchCharsMax = 4_000_000;
/** Characters that may wait in memory. */
const waitingCharsMax = 256_000_000;
/** Records redacted in one turn of the event loop, and characters of them. */
const turnRecords = 16;
const turnChars = 100_000;

/** Longest wait for something to send. Waking for nothing is cheap, and a wake that got lost would not be. */
const idleMs = 60_000;
/** A disk that takes longer is not waited for. */
const diskMsMax = 5_000;
/** Longest pause between tries while a shutdown waits. */
const hurriedMs = 1_000;
/** About what a record takes besides its text. */
const fieldsChars = 500;

const answerSchema = z.looseObject({
  accepted: z.int().min(0),
  duplicates: z.int().min(0),
  rejected: z.array(z.looseObject({ index: z.int().min(0) })).max(recordBatchMax),
});

/** Begins to send. Continues with what `disk` has from before. */
export function openSpool(parts: SpoolParts): Spool {
  return new Sender(parts);
}

class Sender implements Spool {
  readonly #parts: SpoolParts;
  readonly #queued;
  readonly #sentCount;
  readonly #droppedCount;
  readonly #stopping = new AbortController();
  readonly #fresh = new Backlog<QueryRecord>(({ sql }) => (sql?.length ?? 0) + fieldsChars);
  readonly #ready = new Backlog<SpoolEntry>(({ text }) => text.length);
  /** Taken out of `#ready` and not known to be kept. */
  #flight: readonly SpoolEntry[] = [];
  /** How many of `#flight` travel together. */
  #together = recordBatchMax;
  /** Place of the next record. */
  #next: number;
  /** No record in `#ready` has a place before it. */
  #resume = 0;
  #sent = 0;
  #dropped = 0;
  /** Queries that were begun and have no record yet. */
  #open = 0;
  #lastError: string | undefined;
  #turnPlanned = false;
  #hurry = false;
  #ended = false;
  /** Records are being dropped because too many wait; said once. */
  #full = false;
  #waiting: (Wake & { readonly until: "ready" | "full" | "hurry" }) | undefined;
  #onIdle: (() => void)[] = [];
  readonly #running: Promise<void>;

  constructor(parts: SpoolParts) {
    this.#parts = parts;
    const { metrics, log } = parts.host;
    this.#queued = metrics.gauge(historyFamilies.queued, {});
    this.#sentCount = metrics.counter(historyFamilies.sent, {});
    this.#droppedCount = metrics.counter(historyFamilies.dropped, {});
    const restored = parts.disk?.restored;
    this.#next = restored?.next ?? 0;
    this.#resume = restored?.entries[0]?.at ?? this.#next;
    for (const entry of restored?.entries ?? []) this.#ready.push(entry);
    this.#lose(restored?.dropped ?? 0, undefined);
    this.#lose(restored?.lost ?? 0, "disk");
    this.#bound();
    parts.disk?.note();
    this.#running = this.#run().catch((bug: unknown) => log.bug(bug));
  }

  status(): UplinkStatus {
    const [sent, dropped, lastError] = [this.#sent, this.#dropped, this.#lastError];
    const diskError = this.#parts.disk?.problem();
    return { queued: this.#count, sent, dropped, lastError, diskError };
  }

  begin(): void {
    const { disk } = this.#parts;
    if (disk === undefined) return;
    this.#open += 1;
    this.#tellDisk();
    disk.note();
  }

  append(record: QueryRecord): void {
    this.#open = Math.max(0, this.#open - 1);
    if (this.#ended) return this.#lose(1, undefined);
    this.#fresh.push(record);
    this.#bound();
    this.#plan();
  }

  async close(deadline: AbortSignal): Promise<void> {
    this.#hurry = true;
    this.#waiting?.wake();
    while (this.#fresh.size > 0 && !deadline.aborted) this.#turn();
    await this.#idleOr(deadline);
    this.#ended = true;
    this.#stopping.abort();
    this.#waiting?.wake();
    await this.#running;
    while (this.#fresh.size > 0) this.#turn();
    const { disk, host } = this.#parts;
    this.#tellDisk();
    const kept = disk === undefined ? false : await disk.flush();
    if (!kept) this.#lose(this.#count, "deadline");
    else if (this.#count > 0) host.log.write("info", "history.left", { count: this.#count });
  }

  get #count(): number {
    return this.#fresh.size + this.#ready.size + this.#flight.length;
  }

  /** Drops the oldest, but never what is under way: the other side may just be taking it. */
  #bound(): void {
    const { recordsMax } = this.#parts;
    while (this.#count > recordsMax || this.#chars > waitingCharsMax) {
      const gone = this.#ready.size > 0 ? this.#takeReady(1) : this.#fresh.take(1);
      if (gone.length === 0) break;
      this.#lose(1, this.#full ? undefined : "full");
      this.#full = true;
    }
    this.#tellDisk();
    this.#queued.set(this.#count);
  }

  #takeReady(countMax: number): readonly SpoolEntry[] {
    const taken = this.#ready.take(countMax, batchCharsMax);
    this.#resume = (taken.at(-1)?.at ?? this.#resume - 1) + 1;
    return taken;
  }

  get #chars(): number {
    return this.#fresh.weight + this.#ready.weight;
  }

  #plan(): void {
    if (this.#turnPlanned) return;
    this.#turnPlanned = true;
    setImmediate(() => {
      this.#turnPlanned = false;
      this.#turn();
      if (this.#fresh.size > 0) this.#plan();
    });
  }

  #turn(): void {
    for (const record of this.#fresh.take(turnRecords, turnChars)) this.#makeReady(record);
    this.#tellDisk();
    const until = this.#waiting?.until;
    const enough = until === "ready" ? 1 : recordBatchMax;
    if (until !== "hurry" && this.#ready.size >= enough) this.#waiting?.wake();
  }

  #makeReady(record: QueryRecord): void {
    const { host, disk } = this.#parts;
    try {
      const entry = { at: this.#next, text: JSON.stringify(this.#parts.prepare(record)) };
      this.#next += 1;
      this.#ready.push(entry);
      disk?.add(entry);
    } catch (bug) {
      // A record that can not be redacted does not leave at all.
      host.log.bug(bug, { queryId: record.proxyQueryId });
      this.#lose(1, undefined);
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      if (this.#ready.size === 0) await this.#rest(idleMs, "ready");
      if (this.#ready.size === 0) continue;
      if (this.#ready.size < recordBatchMax && !this.#hurry) await this.#rest(batchMs, "full");
      if (signal.aborted) return;
      this.#flight = this.#takeReady(recordBatchMax);
      await this.#deliver();
      this.#settle();
    }
  }

  /** Tries until what is under way is taken, refused for good, or the stop comes. */
  async #deliver(): Promise<void> {
    const { host, uplink } = this.#parts;
    const { signal } = this.#stopping;
    const backoff = backoffOf(host);
    this.#together = this.#flight.length;
    while (this.#flight.length > 0 && !signal.aborted) {
      await this.#kept();
      const answered = await uplink.send(await this.#batch(), signal);
      if (answered.ok) {
        backoff.reset();
        this.#taken(answered.value.body);
        continue;
      }
      const { error } = answered;
      if (signal.aborted) return;
      if (error.code === "refused" && isToBlame(error.status)) {
        this.#split(error.status);
        continue;
      }
      this.#failed(error);
      const retryAfterMs = error.code === "unregistered" ? undefined : retryAfterOf(error);
      const pauseMs = backoff.next(retryAfterMs);
      await this.#rest(this.#hurry ? Math.min(pauseMs, hurriedMs) : pauseMs, "hurry");
    }
  }

  /**
   * First to disk: after a kill, a record that was sent and lies on no disk would count as lost. A
   * disk that hangs does not stop the sending.
   */
  async #kept(): Promise<void> {
    const { disk, host } = this.#parts;
    if (disk === undefined) return;
    const limit = pause(host.clock, diskMsMax, this.#stopping.signal);
    await Promise.race([disk.written(), limit]);
    limit.wake();
  }

  async #batch(): Promise<Uint8Array> {
    const { worker, compress = gzipped } = this.#parts;
    const batch = this.#flight.slice(0, this.#together);
    const records = batch.map(({ text }) => text).join(",");
    const name = JSON.stringify(worker);
    const text = `{"schemaVersion":${recordSchemaVersion},"worker":${name},"records":[${records}]}`;
    return compress(text);
  }

  #taken(body: Uint8Array): void {
    const read = answerSchema.safeParse(jsonIn(body));
    // An endpoint outside the fleet may answer anything; 2xx means that it has the batch.
    const rejected = read.success ? new Set(read.data.rejected.map(({ index }) => index)).size : 0;
    const { length } = this.#flight.slice(0, this.#together);
    const refused = Math.min(rejected, length);
    if (this.#lastError !== undefined) this.#parts.host.log.write("info", "history.recovered", {});
    this.#lastError = undefined;
    this.#full = false;
    this.#sent += length - refused;
    this.#sentCount.add(length - refused);
    this.#lose(refused, "rejected");
    this.#forget(length);
  }

  /** Sends fewer at once, down to the one record that is refused. That one is lost. */
  #split(status: number): void {
    if (this.#together > 1) {
      this.#together = Math.ceil(this.#together / 2);
      return;
    }
    this.#lose(1, `refused with ${status}`);
    this.#forget(1);
  }

  #forget(count: number): void {
    this.#flight = this.#flight.slice(count);
    this.#together = Math.max(1, Math.min(this.#together, this.#flight.length));
    this.#tellDisk();
    this.#parts.disk?.note();
  }

  #failed(error: UplinkFailure): void {
    const reason = uplinkFailureText(error);
    if (reason === this.#lastError) return;
    this.#lastError = reason;
    this.#parts.host.log.write("warn", "history.unavailable", { reason, waiting: this.#count });
  }

  #lose(count: number, detail: string | undefined): void {
    if (count === 0) return;
    this.#dropped += count;
    this.#droppedCount.add(count);
    if (detail !== undefined) {
      this.#parts.host.log.write("error", "history.dropped", { count, detail });
    }
  }

  /** Resolves after `ms`, earlier for that reason, and in a hurry. */
  async #rest(ms: number, until: "ready" | "full" | "hurry"): Promise<void> {
    if (this.#hurry && until === "full") return;
    const waiting = pause(this.#parts.host.clock, ms, this.#stopping.signal);
    this.#waiting = { wake: () => waiting.wake(), until };
    await waiting;
    this.#waiting = undefined;
  }

  #tellDisk(): void {
    const resume = this.#ready.size === 0 ? this.#next : this.#resume;
    const from = this.#flight[0]?.at ?? resume;
    const until = (this.#flight.at(-1)?.at ?? from - 1) + 1;
    const waiting = this.#count + this.#open;
    this.#parts.disk?.alive({ from, until, resume, waiting, dropped: this.#dropped });
  }

  #settle(): void {
    this.#queued.set(this.#count);
    if (this.#count > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  async #idleOr(deadline: AbortSignal): Promise<void> {
    if (this.#count === 0 || deadline.aborted) return;
    await new Promise<void>((resolve) => {
      this.#onIdle.push(resolve);
      deadline.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}

/** 413, and statuses that mean the batch is not understood. Not 409, an unknown format: then the batch stays. */
function isToBlame(status: number): boolean {
  return status === 400 || status === 413 || status === 422;
}
