import type { AcquireRequest } from "@gateway/contract/capacityApi.ts";
import { describe, expect, it } from "vitest";
import type { LeaseSource } from "./lease/leases.ts";
import { virtualHost } from "../rig/virtual.ts";
import { ok } from "../result.ts";
import { leasedCapacity } from "./leased.ts";
import { read, requestOf } from "./rig/admission.ts";

describe("the execution limit of a lease", () => {
  it.each([5_000, undefined])("stands at its slot: %s", async (maxExecutionMs) => {
    const asked: Omit<AcquireRequest, "instanceId">[] = [];
    const host = virtualHost(1);
    const options = { onUnavailable: "failClosed", leaseAhead: 0 } as const;
    const capacity = leasedCapacity(host, sourceOf(maxExecutionMs, asked), options);
    const { signal } = new AbortController();
    const slot = await read(capacity.admit(requestOf({}), signal), []);
    if (!slot.ok) throw new Error(slot.error.code);
    expect(slot.value.lease?.maxExecutionMs).toBe(maxExecutionMs);
    // Whoever gives leases hears that this process sends them on.
    expect(asked.map(({ sendsLimits }) => sendsLimits)).toEqual([true]);
    await slot.value[Symbol.asyncDispose]();
    await capacity.close(AbortSignal.abort());
  });
});

function sourceOf(
  maxExecutionMs: number | undefined,
  asked: Omit<AcquireRequest, "instanceId">[],
): LeaseSource {
  const limit = maxExecutionMs === undefined ? {} : { maxExecutionMs };
  return {
    instance: "worker-one",
    acquire: async (request) => {
      asked.push(request);
      const [cluster = ""] = request.candidates;
      return ok({
        granted: [{ cluster, slot: 0, lease: "lease-one", expiresInMs: 60_000, ...limit }],
      });
    },
    renew: async (leases) =>
      ok({ renewed: leases.map(({ lease }) => lease), lost: [], expiresInMs: 60_000 }),
    release: async (leases) => ok({ released: leases.length }),
    leave: async () => ok(undefined),
  };
}
