/** For tests of the capacity: requests, and admissions that are read to their end in the background. */
import type { GatewayError } from "../../error.ts";
import type { AdmitRequest, Candidate, Capacity } from "../../port/capacity.ts";
import type { Slot } from "../../query/slot.ts";
import { virtualHost, type VirtualHost } from "../../rig/virtual.ts";
import type { Policed } from "../../query/query.ts";
import type { Result } from "../../result.ts";
import { queryOf } from "../../route/rig/queryOf.ts";
import { localCapacity } from "../local.ts";

export interface Admission {
  readonly positions: readonly number[];
  readonly result: Result<Slot, GatewayError> | undefined;
  done(): Promise<Result<Slot, GatewayError>>;
}

/** `admit` reads an admission to its end in the background. */
export function capacityOf() {
  const host: VirtualHost = virtualHost(1);
  const capacity = localCapacity(host);
  const admit = (request: AdmitRequest, signal = new AbortController().signal): Admission => {
    const positions: number[] = [];
    let result: Admission["result"];
    const reading = read(capacity.admit(request, signal), positions).then((answer) => {
      result = answer;
      return answer;
    });
    return {
      positions,
      get result() {
        return result;
      },
      done: () => reading,
    };
  };
  return { host, capacity, admit };
}

export async function read(
  admission: ReturnType<Capacity["admit"]>,
  positions: number[],
): Promise<Result<Slot, GatewayError>> {
  for (;;) {
    const step = await admission.next();
    if (step.done === true) return step.value;
    positions.push(step.value.position);
  }
}

export async function slotOf(admission: Admission): Promise<Slot> {
  const result = await admission.done();
  if (!result.ok) throw new Error(`refused: ${result.error.code}`);
  return result.value;
}

export async function errorOf(admission: Admission): Promise<GatewayError> {
  const result = await admission.done();
  if (result.ok) throw new Error("granted");
  return result.error;
}

/** Gives a slot back and answers who got it. */
export async function handOver(
  slot: Slot,
  waiting: readonly Admission[],
): Promise<Admission | undefined> {
  await slot[Symbol.asyncDispose]();
  await Promise.race(waiting.map((admission) => admission.done()));
  return waiting.find(({ result }) => result !== undefined);
}

export function queuedIn(capacity: Capacity): number {
  return capacity.counts().reduce((sum, { queued }) => sum + queued, 0);
}

export function runningIn(capacity: Capacity): number {
  const groups = capacity.counts().filter(({ cluster }) => cluster === undefined);
  return groups.reduce((sum, { running }) => sum + running, 0);
}

export function candidateOf(cluster: string, caps: Partial<Candidate> = {}): Candidate {
  return { cluster, clusterCap: undefined, groupCap: 1, ...caps };
}

export function requestOf({
  user = "u",
  ...request
}: Partial<AdmitRequest> & { user?: string }): AdmitRequest {
  return {
    query: policedOf(user),
    group: "g",
    weight: 1,
    maxQueued: undefined,
    waitTimeoutMs: 300_000,
    candidates: () => [candidateOf("c")],
    ...request,
  };
}

function policedOf(user: string): Policed {
  const query = queryOf({ user });
  return { ...query, group: "g", trace: [], allowedSql: query.sql };
}
