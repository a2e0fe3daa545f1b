import { describe, expect, it } from "vitest";
import { sharedCapacity } from "./sharedCapacity.ts";
import { localLeases } from "./localLeases.ts";
import { acquire, withCaps } from "../rig/capacity.ts";

const own = "instance-of-the-control-plane";
const never = new AbortController().signal;
const request = {
  requestId: "request-of-our-own",
  group: "main",
  candidates: ["duck"],
  queryId: "q-own",
  count: 1,
  waitMs: 0,
};

describe("localLeases", () => {
  it("shares the slots with the workers, without a registration", async () => {
    const { control, headers, leases } = await beside();
    const mine = await leases.acquire(request, never);
    expect(mine).toMatchObject({ ok: true, value: { granted: [{ cluster: "duck", slot: 0 }] } });
    expect((await acquire(control, headers, {})).granted).toEqual([]);
    const granted = mine.ok ? mine.value.granted : [];
    expect(await leases.renew(granted, never)).toMatchObject({
      ok: true,
      value: { renewed: [granted[0]?.lease], lost: [] },
    });
    expect(await leases.release(granted, never)).toEqual({ ok: true, value: { released: 1 } });
    expect((await acquire(control, headers, {})).granted).toHaveLength(1);
  });

  it("is unreachable while the database is gone, and refused once its end was proven", async () => {
    const { control, leases } = await beside();
    control.cut(true);
    expect(await leases.acquire(request, never)).toEqual({ ok: false, error: "unreachable" });
    control.cut(false);
    await control.deps.store.capacity.dead(own);
    expect(await leases.acquire(request, never)).toEqual({ ok: false, error: "refused" });
    expect(await leases.leave("q-own", never)).toEqual({ ok: false, error: "refused" });
  });

  it("is the reaper when it has the lock, and fenced off when it has not", async () => {
    const { leases } = await beside();
    const locked = await leases.lock(15, never);
    expect(locked).toMatchObject({ ok: true, value: { acquired: true, token: 1 } });
    expect(await leases.keepLock(1, never)).toMatchObject({ ok: true, value: { acquired: true } });
    expect(await leases.suspects(never)).toEqual({ ok: true, value: { suspects: [], listing: 0 } });
    const count = { token: 1, running: 0, complete: true };
    expect(await leases.publish("duck", count, never)).toEqual({ ok: true, value: undefined });
    expect(await leases.publish("duck", { ...count, token: 2 }, never)).toEqual({
      ok: false,
      error: "refused",
    });
    const report = { token: 2, cluster: "duck", slot: 0, lease: "a-lease-of-nobody", delayMs: 0 };
    expect(await leases.observed({ ...report, seen: "absent" }, never)).toEqual({
      ok: true,
      value: { fenced: false, advice: "unknown" },
    });
    expect(await leases.unlock(1, never)).toEqual({ ok: true, value: undefined });
  });
});

/** A control plane with one slot, a worker, and queries of its own. */
async function beside() {
  const { control, headers } = await withCaps();
  return { control, headers, leases: localLeases(sharedCapacity(control.deps), own) };
}
