import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import { planeOf, queryOf, type PlaneOptions } from "./rig/plane.ts";
import { tablesFor } from "./tables.ts";

const never = new AbortController().signal;
const query = queryOf("SELECT * FROM information_schema.columns");
const clusters = {
  main: async function* () {
    /* listing runs no statement */
  },
};

async function scopeOf(options: Partial<PlaneOptions> = {}) {
  const plane = planeOf({ clusters, ...options });
  return { plane, scope: await tablesFor(query, plane, never) };
}

describe("tablesFor", () => {
  it("names the place by configuration and group, without taking a slot", async () => {
    const { plane, scope } = await scopeOf();
    expect(scope).toMatchObject({ ok: true, value: { key: '["1.1.test","main",""]' } });
    expect(plane.slots.size).toBe(0);
  });

  it("lists in a slot, gives it back, tells the breaker, and leaves no record", async () => {
    const { plane, scope } = await scopeOf();
    const listed = scope.ok ? await scope.value.list(never) : scope;
    expect(listed).toEqual({ ok: true, value: [] });
    expect(plane.slots.size).toBe(0);
    expect(plane.reached).toHaveLength(1);
    expect(plane.records).toEqual([]);
  });

  it("refuses whoever may not run a query there", async () => {
    const route = gatewayError("route.forbidden");
    expect((await scopeOf({ refuse: { route } })).scope).toEqual({ ok: false, error: route });
    const police = gatewayError("policy.denied");
    expect((await scopeOf({ refuse: { police } })).scope).toEqual({ ok: false, error: police });
    const admit = gatewayError("capacity.queueFull");
    const { scope } = await scopeOf({ refuse: { admit } });
    expect(scope.ok ? await scope.value.list(never) : scope).toEqual({ ok: false, error: admit });
  });

  it("lists nothing once a drain began, and answers a bug as one", async () => {
    const { plane, scope } = await scopeOf();
    plane.drainNow();
    expect(scope.ok ? await scope.value.list(never) : scope).toMatchObject({
      error: { code: "gateway.draining" },
    });
    const broken = await scopeOf({ routeThrows: true });
    expect(broken.scope).toMatchObject({ error: { code: "internal.bug" } });
  });
});
