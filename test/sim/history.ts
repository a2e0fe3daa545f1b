/**
 * The records of one simulated worker: the real spool over a folder and a network of the simulation.
 * A kill takes everything that is not in the folder.
 */
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { openSpool, type Spool } from "@gateway/gateway/worker/records/spool.ts";
import { openSpoolDisk, type SpoolDiskParts } from "@gateway/gateway/worker/records/spoolDisk.ts";
import { cellOf, recordOf } from "@gateway/gateway/worker/rig/spool.ts";

/** How a batch fares; `arrivesUnanswered` leaves the worker in doubt. */
export type Passage = "arrives" | "arrivesUnanswered" | "lost";

export interface SimHistoryParts {
  readonly host: Host;
  readonly random: () => number;
  readonly passage: () => Passage;
  /** Planted: no count is kept of what is begun. */
  readonly uncounted: boolean;
  /** Planted: a batch that is sent again is taken for sent. */
  readonly dropsOnRetry: boolean;
}

const secret = new Secret("the-secret-of-the-fleet-in-this-simulation");
const diskMsMax = 20;
const taken = ok({ status: 200, headers: {}, body: new Uint8Array() });

export class SimHistory {
  /** Ids at the other end. */
  readonly arrived = new Set<string>();
  readonly #parts: SimHistoryParts;
  readonly #files = new Map<string, Uint8Array>();
  readonly #ends: (Promise<void> | undefined)[] = [];
  #life = { over: false };
  #spool: Spool | undefined;
  /** The batch whose answer did not come. */
  #refused: string | undefined;

  constructor(parts: SimHistoryParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { host } = this.#parts;
    const life = { over: false };
    this.#life = life;
    const disk = await openSpoolDisk({ host, dir: this.#folder(life), secrets: [secret] });
    this.#spool = openSpool({
      host,
      disk,
      worker: "simulated",
      recordsMax: 1_000,
      prepare: (record) => record,
      // Compressing is another thread's work, whose turn no seed decides.
      compress: (text) => Promise.resolve(Buffer.from(text, "utf8")),
      uplink: { send: (body) => this.#send(body, life) },
    });
  }

  begin(): void {
    if (!this.#parts.uncounted) this.#spool?.begin();
  }

  append(id: string): void {
    this.#spool?.append(recordOf(id));
  }

  /** As `kill -9` and a new start. */
  async kill(): Promise<void> {
    this.#life.over = true;
    // It changes nothing any more, and only gives its timers back.
    this.#ends.push(this.#spool?.close(AbortSignal.abort()));
    await this.start();
  }

  /** Ends what still runs; takes virtual time. */
  async close(): Promise<void> {
    await Promise.all([...this.#ends, this.#spool?.close(AbortSignal.abort())]);
  }

  status(): { readonly queued: number; readonly dropped: number } {
    const { queued = 0, dropped = 0 } = this.#spool?.status() ?? {};
    return { queued, dropped };
  }

  async #send(body: Uint8Array, life: { readonly over: boolean }): ReturnType<Uplink["send"]> {
    const passage = life.over ? "lost" : this.#parts.passage();
    const refusal = err({ code: "unreachable", detail: "ECONNRESET" } as const);
    const text = Buffer.from(body).toString("utf8");
    const isAgain = text === this.#refused;
    this.#refused = passage === "arrives" ? undefined : text;
    if (this.#parts.dropsOnRetry && isAgain) return taken;
    if (passage === "lost") return refusal;
    const { records } = JSON.parse(text) as Batch;
    for (const { proxyQueryId } of records) this.arrived.add(proxyQueryId);
    return passage === "arrives" ? taken : refusal;
  }

  /** Each change takes some milliseconds, within which a kill may come. */
  #folder(life: { readonly over: boolean }): SpoolDiskParts["dir"] {
    const files = this.#files;
    const { host, random } = this.#parts;
    const later = async (change: () => void) => {
      await new Promise<void>((resolve) => {
        host.clock.timer(life.over ? 0 : random() * diskMsMax, resolve);
      });
      if (!life.over) change();
      return ok(undefined);
    };
    return {
      read: (name) => Promise.resolve(ok(files.get(name))),
      list: () => Promise.resolve(ok([...files.keys()])),
      write: (name, bytes) => later(() => files.set(name, bytes)),
      remove: (name) => later(() => files.delete(name)),
      cell: (name) => {
        const put = (bytes: Uint8Array): void => {
          if (!life.over) files.set(name, Uint8Array.from(bytes));
        };
        return Promise.resolve(ok(cellOf(files.get(name), put)));
      },
    };
  }
}

type Uplink = Parameters<typeof openSpool>[0]["uplink"];

interface Batch {
  readonly records: readonly { readonly proxyQueryId: string }[];
}
