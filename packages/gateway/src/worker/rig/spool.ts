/** A spool for tests: on a virtual clock, over an uplink that a test answers. */
import { gunzipSync } from "node:zlib";
import type { QueryRecord } from "@gateway/contract/record.ts";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { redact } from "@gateway/core/record/redact.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { openSpool, type Spool, type SpoolParts } from "../records/spool.ts";
import type { Cell } from "../state/stateDir.ts";
import type { Uplink, UplinkFailure } from "../records/uplink.ts";
import { systemClock } from "../../host/clock.ts";

interface BatchAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly { readonly index: number; readonly error: string }[];
}

/** What the other side says to a batch with these ids. */
export type Answer = (ids: readonly string[]) => Result<BatchAnswer, UplinkFailure>;

/** Takes all. */
export function taken(ids: readonly string[]): Result<BatchAnswer, UplinkFailure> {
  return ok({ accepted: ids.length, duplicates: 0, rejected: [] });
}

/** Nobody is there. */
export function refuse(): Result<BatchAnswer, UplinkFailure> {
  return err({ code: "unreachable", detail: "ECONNREFUSED" });
}

export interface TestUplink {
  readonly host: VirtualHost;
  /** Ids of each batch. */
  readonly batches: (readonly string[])[];
  /** Each batch as it was sent, inflated. */
  readonly texts: string[];
  /** Ids that were taken, in order. */
  readonly taken: string[];
  answer: Answer;
  openMax(): number;
  until(done: () => boolean): Promise<void>;
}

/** A spool over an uplink that answers as the test says. */
export function spoolOf(more: Partial<SpoolParts> = {}, host: VirtualHost = virtualHost(1)) {
  const batches: (readonly string[])[] = [];
  const texts: string[] = [];
  const test: TestUplink = {
    host,
    batches,
    texts,
    taken: [],
    answer: taken,
    openMax: () => openMax,
    until: (done: () => boolean) => passes(host, done),
  };
  let open = 0;
  let openMax = 0;
  const uplink: Uplink = {
    send: async (body) => {
      open += 1;
      openMax = Math.max(open, openMax);
      const text = gunzipSync(body).toString("utf8");
      texts.push(text);
      const { records } = JSON.parse(text) as { records: { proxyQueryId: string }[] };
      const ids = records.map(({ proxyQueryId }) => proxyQueryId);
      batches.push(ids);
      await Promise.resolve();
      open -= 1;
      const answered = test.answer(ids);
      if (!answered.ok) return answered;
      test.taken.push(...ids);
      return ok({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(answered.value)) });
    },
  };
  const spool: Spool = openSpool({ ...partsOf(host), uplink, ...more });
  return Object.assign(test, { spool });
}

/** Parts of a spool without its uplink. */
export function partsOf(host: VirtualHost): Omit<SpoolParts, "uplink"> {
  return {
    host,
    worker: "pod-1",
    recordsMax: 50_000,
    prepare: (record) => redact(record, "full"),
    disk: undefined,
  };
}

/** Real milliseconds: other threads compress, and turns of this one say nothing about them. */
const patienceMs = 20_000;

/** Moves the clock on; compressing and writing take real turns of the event loop. */
export async function passes(host: VirtualHost, done: () => boolean): Promise<void> {
  const untilMs = systemClock.nowMs() + patienceMs;
  for (let turn = 0; systemClock.nowMs() < untilMs; turn += 1) {
    if (done()) return;
    await host.settle();
    if (turn % 20 === 19) await host.advance(1_000);
  }
  throw new Error("it did not happen");
}

/** A cell in memory; `put` is told what is written. */
export function cellOf(
  found: Uint8Array = new Uint8Array(),
  put: (bytes: Uint8Array) => void = () => {},
): Cell {
  return {
    found,
    put: (bytes) => {
      put(bytes);
      return undefined;
    },
    flush: () => Promise.resolve(ok(undefined)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** A record as the pipeline makes it. */
export function recordOf(proxyQueryId: string): QueryRecord {
  return {
    proxyQueryId,
    createdAt: 1_767_225_600_000,
    finishedAt: 1_767_225_600_001,
    frontend: "trinoHttp",
    user: "ann",
    clientAddress: "192.0.2.7",
    tags: {},
    sql: "SELECT 1",
    sourceDialect: "trino",
    status: "finished",
    rowsReturned: 1,
    bytesReturned: 1,
    queueMs: 0,
    executionMs: 1,
    routingTrace: [],
    policyActions: [],
    engineStats: {},
    revision: "1.1.sha256:0",
  };
}
