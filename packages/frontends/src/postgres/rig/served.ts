/** A PostgreSQL listener over a scripted door, and the events it answers with, for the tests of this folder. */
import type { Frontend } from "@gateway/core/port/frontend.ts";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { Query } from "@gateway/core/query/query.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import { scriptedDoor, type Script, type ScriptedDoor } from "../../rig/scriptedDoor.ts";
import { postgresConfig, type PostgresConfig } from "../config.ts";
import { listen } from "../listen.ts";

export interface Served extends AsyncDisposable {
  readonly port: number;
  readonly door: ScriptedDoor;
  readonly host: VirtualHost;
  readonly frontend: Frontend;
}

/** Opens a listener on a free port of loopback; disposing cuts off whoever is still there. `more` replaces parts of the door. */
export async function served(
  script: Script,
  config: Partial<PostgresConfig> = {},
  more: Partial<ScriptedDoor> = {},
): Promise<Served> {
  const host = virtualHost(1);
  const answers = { BEGIN: noTransactions, ...script.answers };
  const door = { ...scriptedDoor({ ...script, answers }), ...more };
  const parsed = { ...postgresConfig.parse({ host: "127.0.0.1", port: 0 }), ...config };
  const opened = await listen(parsed, door, host);
  if (!opened.ok) throw new Error(opened.error.detail);
  const frontend = opened.value;
  return {
    port: frontend.port,
    door,
    host,
    frontend,
    [Symbol.asyncDispose]: async () => {
      await frontend.drain(AbortSignal.abort());
      const [bug] = host.log.bugs;
      if (bug !== undefined) throw bug instanceof Error ? bug : new Error("a bug was logged");
    },
  };
}

/** An engine has none unless the script says so. */
const noTransactions = [{ kind: "failed", error: gatewayError("query.unsupported") }] as const;

export const text: DataType = { kind: "text" };
export const int32: DataType = { kind: "integer", bits: 32, signed: true };
export const int64: DataType = { kind: "integer", bits: 64, signed: true };

const stats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 };

/** A result with its rows. */
export function resultOf(
  columns: readonly Column[],
  ...rows: readonly (readonly Value[])[]
): readonly ResultEvent[] {
  return [{ kind: "columns", columns }, { kind: "batch", batch: batchOf(columns, rows) }, doneOf()];
}

/** A statement without a result. */
export function doneOf(updateType?: string, updateCount?: number): ResultEvent {
  return {
    kind: "done",
    stats,
    ...(updateType === undefined ? {} : { updateType }),
    ...(updateCount === undefined ? {} : { updateCount }),
  };
}

/** One column of one type. */
export function column(name: string, type: DataType = int32): readonly Column[] {
  return [columnOf(name, type)];
}

/** A query that gives one row and then nothing until it is cancelled. */
export async function* endless(_: Query, signal: AbortSignal): ResultStream {
  const columns = column("n");
  yield { kind: "columns", columns };
  yield { kind: "batch", batch: batchOf(columns, [[1n]]) };
  await aborted(signal);
  yield { kind: "failed", error: gatewayError("query.cancelled") };
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Resolves when `done` answers true; asked after every turn of the event loop. */
export async function eventually(done: () => boolean): Promise<void> {
  while (!done()) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
