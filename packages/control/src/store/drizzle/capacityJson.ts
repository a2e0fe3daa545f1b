/** The JSON in which a step of capacity goes to the database and comes back. Not the statements. */
import type { AcquireResponse, GrantedLease } from "@gateway/contract/capacityApi.ts";
import type { Caller, CapacityStep, HandOver, Refusable, SteppedCapacity } from "../capacity.ts";

interface LeaseJson {
  readonly cluster: string;
  readonly slot: number;
  readonly lease: string;
  /** Absent: as long as any new lease. */
  readonly expiresInMs?: number;
  /** Null or absent: none is known. */
  readonly maxExecutionMs?: number | null;
}

export interface HandedJson {
  readonly instance: string;
  readonly query: string;
  readonly granted: readonly LeaseJson[];
}

/** `op` is the place in the list that was sent. */
export interface SteppedJson {
  /** Null for one that is not known. */
  readonly callers: readonly (string | null)[] | null;
  readonly left: readonly number[];
  /** One entry for each lease that was freed. */
  readonly released: readonly number[] | null;
  readonly acquired: readonly {
    readonly op: number;
    readonly refused?: boolean;
    readonly granted?: readonly LeaseJson[];
    readonly position?: number;
    readonly estimateMs?: number;
    readonly queueFull?: boolean;
    readonly userFull?: boolean;
  }[];
  readonly handed: readonly HandedJson[];
}

interface CallerJson {
  readonly n: number;
  readonly instance: string;
  readonly token?: string;
  /** It sends the limits of its leases to the engines. */
  readonly limits: boolean;
}

/** Each caller of a step once, and its place in the list, from 1 as arrays of the database are. */
export function callersOf(step: CapacityStep) {
  const places = new Map<string, number>();
  const limiting = new Set(
    step.acquires.filter(({ sendsLimits }) => sendsLimits).map(({ caller }) => keyOf(caller)),
  );
  const rows: CallerJson[] = [];
  for (const { caller } of [...step.leaves, ...step.releases, ...step.acquires]) {
    if (places.has(keyOf(caller))) continue;
    const n = rows.length + 1;
    const { instance, tokenHash } = caller;
    places.set(keyOf(caller), n);
    const token = tokenHash === undefined ? {} : { token: tokenHash };
    rows.push({ n, instance, ...token, limits: limiting.has(keyOf(caller)) });
  }
  return { rows, place: (caller: Caller): number => places.get(keyOf(caller)) ?? 0 };
}

function keyOf({ instance, tokenHash }: Caller): string {
  return `${instance} ${tokenHash ?? ""}`;
}

/** Answers in the order of the step. */
export function steppedOf(
  { callers, left, released, acquired, handed }: SteppedJson,
  step: CapacityStep,
  { place, leaseMs }: { readonly place: (caller: Caller) => number; readonly leaseMs: number },
): SteppedCapacity {
  const known = (caller: Caller): boolean => (callers?.[place(caller) - 1] ?? null) !== null;
  const freed = new Map<number, number>();
  for (const op of released ?? []) freed.set(op, (freed.get(op) ?? 0) + 1);
  const gone = new Set(left);
  const answers = new Map(acquired.map((answer) => [answer.op, answer]));
  return {
    leaves: step.leaves.map(({ caller }, op) => (known(caller) ? gone.has(op) : "refused")),
    releases: step.releases.map(({ caller }, op) =>
      known(caller) ? (freed.get(op) ?? 0) : "refused",
    ),
    acquires: step.acquires.map((_, op): Refusable<AcquireResponse> => {
      const answer = answers.get(op);
      if (answer === undefined || answer.refused === true) return "refused";
      const { granted = [], position, estimateMs, queueFull, userFull } = answer;
      return {
        granted: granted.map((lease) => grantedOf(lease, leaseMs)),
        ...(position === undefined ? {} : { position }),
        ...(estimateMs === undefined ? {} : { estimateMs }),
        ...(queueFull === undefined ? {} : { queueFull }),
        ...(userFull === true ? { userFull } : {}),
      };
    }),
    handed: handedOf(handed, leaseMs),
  };
}

/** Leases for waiters, each as the answer to its call. */
export function handedOf(handed: readonly HandedJson[], leaseMs: number): readonly HandOver[] {
  return handed.map(({ instance, query, granted }) => ({
    instance,
    queryId: query,
    answer: { granted: granted.map((lease) => grantedOf(lease, leaseMs)) },
  }));
}

function grantedOf(
  { cluster, slot, lease, expiresInMs, maxExecutionMs }: LeaseJson,
  leaseMs: number,
): GrantedLease {
  const limit = typeof maxExecutionMs === "number" ? { maxExecutionMs } : {};
  return { cluster, slot, lease, expiresInMs: expiresInMs ?? leaseMs, ...limit };
}
