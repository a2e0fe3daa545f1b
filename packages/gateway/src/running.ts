/** A started role: its open listeners, and how its parts end together. */
import type { SignOnLinks } from "@gateway/control/admin/auth/links.ts";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { RunningDataPlane } from "./dataPlane.ts";
import { unlessLate } from "./host/deadline.ts";
import type { OpenOps } from "./ops/listen.ts";
import type { StartError } from "./starting.ts";

/** How long after a drain's deadline one part may take to end. The history limits itself to less, so that records are still written. */
const endMsMax = 6_000;

/** An open address, for logs and for the text that the quick start prints. */
export interface OpenListener {
  readonly kind: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** A started role. */
export interface Running {
  readonly listeners: readonly OpenListener[];
  readonly data: RunningDataPlane;
  /** One-time token that makes the first administrator; undefined when there are users. Printed once, never logged. */
  readonly setupToken: string | undefined;
  /** Makes one-time links into the console; undefined where other machines reach it, and on a worker. */
  readonly links: SignOnLinks | undefined;
  /** Reads the configuration file again, where the file is the configuration; undefined where a database is. */
  readonly reload: ((file: unknown) => Promise<readonly string[]>) | undefined;
  /** Takes nothing new, lets running queries finish until `deadline`; true when none had to be ended. */
  drain(deadline: AbortSignal): Promise<boolean>;
}

export interface StartedParts {
  readonly data: Result<RunningDataPlane, readonly ListenError[]>;
  readonly ops: Result<OpenOps | undefined, ListenError>;
  /** Parts to end after the queries, in this order; none of them rejects. */
  readonly ends: readonly ((deadline: AbortSignal) => PromiseLike<void>)[];
  readonly setup: Result<string | undefined, string>;
  readonly links: Running["links"];
  readonly reload: Running["reload"];
  readonly clock: Clock;
}

/** Joins what was started; if a listener failed, ends the others and answers every failure. */
export async function together(
  started: StartedParts,
): Promise<Result<Running, readonly StartError[]>> {
  const { data, ops, setup } = started;
  if (data.ok && ops.ok && setup.ok) {
    return ok(runningOf(data.value, ops.value, { ...started, setupToken: setup.value }));
  }
  if (data.ok) await data.value.drain(AbortSignal.abort());
  if (ops.ok) await ops.value?.close();
  await endAll(started.ends, AbortSignal.abort());
  return err([
    ...(data.ok ? [] : data.error),
    ...(ops.ok ? [] : [ops.error]),
    ...(setup.ok ? [] : [{ part: "admin", reason: setup.error }]),
  ]);
}

function runningOf(
  data: RunningDataPlane,
  ops: OpenOps | undefined,
  {
    ends,
    setupToken,
    links,
    reload,
    clock,
  }: Pick<StartedParts, "ends" | "links" | "reload" | "clock"> & Pick<Running, "setupToken">,
): Running {
  const opsListeners =
    ops === undefined ? [] : [{ kind: "adminApi", host: ops.host, port: ops.port, tls: ops.tls }];
  return {
    data,
    setupToken,
    links,
    reload,
    listeners: [
      ...data.frontends.map(({ kind, host, port, tls }) => ({ kind, host, port, tls })),
      ...(data.relay === undefined ? [] : [{ kind: "relay", ...data.relay, tls: true }]),
      ...opsListeners,
    ],
    drain: async (deadline) => {
      const limit = { ms: endMsMax, clock };
      const clean = await data.drain(deadline);
      // After the queries, so that an orchestrator sees the process alive until they have ended.
      const parts = [() => ops?.close() ?? Promise.resolve(), ...ends];
      let ended = true;
      for (const end of parts) ended = (await unlessLate(end(deadline), deadline, limit)) && ended;
      return clean && ended;
    },
  };
}

async function endAll(ends: StartedParts["ends"], deadline: AbortSignal): Promise<void> {
  for (const end of ends) await end(deadline);
}
