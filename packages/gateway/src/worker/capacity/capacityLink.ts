/**
 * Shared capacity over HTTP: a worker asks its control plane for leases, and reports what the
 * engines run. One call, one try; whoever calls has its own pause.
 *
 * Failures differ in one way only: whether anybody answered. A control plane that has no database
 * or is too busy can give no leases, so it counts as nobody.
 */
import {
  acquireCountMax,
  leasesPerCallMax,
  reconcileLock,
  type NamedLease,
} from "@gateway/contract/capacityApi.ts";
import type {
  LeaseFailure,
  LeaseResult,
  LeaseSource,
  ReaperLink,
} from "@gateway/core/capacity/lease/leases.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok } from "@gateway/core/result.ts";
import { z } from "zod";
import type { CallFailure, FleetCalls } from "../link/fleetCalls.ts";
import { capacityMsMax } from "../limits.ts";
import { jsonIn, type Presence } from "../link/presence.ts";

export interface CapacityLinkParts {
  readonly host: Pick<Host, "log">;
  readonly calls: FleetCalls;
  readonly presence: Pick<Presence, "headers" | "lost" | "instanceId" | "silent">;
}

export interface CapacityLink {
  readonly source: LeaseSource;
  readonly reaper: ReaperLink;
}

const leaseId = z.string().regex(/^[A-Za-z0-9_-]{8,64}$/);
const durationMs = z.number().min(0).max(3_600_000);

const acquireAnswer = z.looseObject({
  granted: z
    .array(
      z.looseObject({
        cluster: z.string(),
        slot: z.int().min(0),
        lease: leaseId,
        expiresInMs: durationMs,
        maxExecutionMs: z.number().min(1).exactOptional(),
      }),
    )
    .max(acquireCountMax),
  position: z.int().min(1).exactOptional(),
  estimateMs: z.number().min(0).exactOptional(),
  retryAfterMs: durationMs.exactOptional(),
  queueFull: z.boolean().exactOptional(),
  userFull: z.boolean().exactOptional(),
});

const renewAnswer = z.looseObject({
  renewed: z.array(z.string()).max(leasesPerCallMax),
  lost: z.array(z.string()).max(leasesPerCallMax),
  expiresInMs: durationMs,
});

const releaseAnswer = z.looseObject({ released: z.int().min(0) });

const lockAnswer = z.looseObject({
  acquired: z.boolean(),
  token: z.int().min(0),
  expiresInMs: durationMs,
});

const suspectsAnswer = z.looseObject({
  suspects: z
    .array(
      z.looseObject({
        cluster: z.string(),
        group: z.string(),
        slot: z.int().min(0),
        lease: leaseId,
        instance: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
        expiredForMs: z.number().min(0),
        holder: z.enum(["alive", "dead", "silent"]),
        silentForMs: z.number().min(0),
      }),
    )
    .max(leasesPerCallMax),
  listing: z.number().min(0),
});

const observedAnswer = z.looseObject({
  fenced: z.boolean(),
  advice: z.enum(["freed", "wait", "end", "goesOn", "unknown"]),
});

const nothing = z.unknown();

interface Asked<Answer> {
  readonly method?: "GET" | "POST" | "PUT";
  readonly path: string;
  /** Without the instance, which every request carries. */
  readonly body?: object;
  readonly answer: z.ZodType<Answer>;
  /** How long the answer may be held. */
  readonly heldMs?: number;
}

/** Makes both ends over the calls of a link. */
export function capacityLink(parts: CapacityLinkParts): CapacityLink {
  const post = asked(parts);
  const lock = "/worker/sweep-lock";
  const capacity = "/worker/capacity";
  const name = reconcileLock;

  return {
    source: {
      get instance() {
        return parts.presence.instanceId();
      },
      acquire: (request, signal) => {
        const path = `${capacity}/acquire`;
        const heldMs = request.waitMs;
        return post({ path, body: request, answer: acquireAnswer, heldMs }, signal);
      },
      renew: (held, signal) =>
        post({ path: `${capacity}/renew`, body: leases(held), answer: renewAnswer }, signal),
      release: (held, signal) =>
        post({ path: `${capacity}/release`, body: leases(held), answer: releaseAnswer }, signal),
      leave: async (queryId, signal) => {
        const path = `${capacity}/leave`;
        return emptied(await post({ path, body: { queryId }, answer: nothing }, signal));
      },
    },
    reaper: {
      lock: (ttlSecs, signal) =>
        post({ path: `${lock}/acquire`, body: { name, ttlSecs }, answer: lockAnswer }, signal),
      keepLock: (token, signal) =>
        post({ path: `${lock}/renew`, body: { name, token }, answer: lockAnswer }, signal),
      unlock: async (token, signal) => {
        const body = { name, token };
        return emptied(await post({ path: `${lock}/release`, body, answer: nothing }, signal));
      },
      suspects: (signal) =>
        post({ method: "GET", path: `${capacity}/suspects`, answer: suspectsAnswer }, signal),
      observed: (report, signal) =>
        post({ path: `${capacity}/observed`, body: report, answer: observedAnswer }, signal),
      publish: async (cluster, body, signal) => {
        const path = `${capacity}/running/${encodeURIComponent(cluster)}`;
        return emptied(await post({ method: "PUT", path, body, answer: nothing }, signal));
      },
    },
  };
}

type Asks = <Answer>(asked: Asked<Answer>, signal: AbortSignal) => LeaseResult<Answer>;

function asked({ host, calls, presence }: CapacityLinkParts): Asks {
  let told: string | undefined;
  function failed(failure: CallFailure): LeaseFailure {
    if (failure.code !== "refused") return "unreachable";
    // Nobody knows this instance: it registers again, and the call is made again.
    if (failure.status === 403) presence.lost();
    const text = String(failure.status);
    if (told !== text) host.log.write("warn", "capacity.callRefused", { status: failure.status });
    told = text;
    return "refused";
  }
  return async ({ method = "POST", path, body, answer, heldMs = 0 }, signal) => {
    const instance = presence.headers();
    // Before the first registration only a failed try to register shows that the control plane is
    // away.
    if (instance === undefined) return err(presence.silent() ? "unreachable" : "refused");
    const json = { "content-type": "application/json", accept: "application/json" };
    const sent =
      body && Buffer.from(JSON.stringify({ ...body, instanceId: presence.instanceId() }));
    const msMax = capacityMsMax + heldMs;
    const call = { method, path, headers: { ...json, ...instance }, msMax };
    const answered = await calls.call(sent === undefined ? call : { ...call, body: sent }, signal);
    if (!answered.ok) return err(failed(answered.error));
    const read = answer.safeParse(jsonIn(answered.value.body));
    // An answer that can not be read may belong to a call that took effect.
    if (!read.success) return err("unreachable");
    told = undefined;
    return ok(read.data);
  };
}

async function emptied(answer: Awaited<LeaseResult<unknown>>): LeaseResult<void> {
  return answer.ok ? ok(undefined) : answer;
}

function leases(held: readonly NamedLease[]): object {
  return { leases: held };
}
