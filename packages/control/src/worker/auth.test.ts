import { describe, expect, it } from "vitest";
import { currentSecret, previousSecret, testControl } from "./rig/control.ts";

const paths = [
  ["GET", "/config"],
  ["GET", "/config/wait"],
  ["GET", "/config/stream"],
  ["POST", "/register"],
  ["DELETE", "/register/instance-00000001"],
  ["POST", "/heartbeat"],
  ["POST", "/query-records"],
  ["GET", "/nothing-here"],
] as const;

describe("fleetAuth", () => {
  it("asks for the fleet secret on every path, also on those that do not exist", async () => {
    for (const [method, path] of paths) {
      const answer = await (await testControl()).call(path, { method, secret: undefined });
      expect([path, answer.status]).toEqual([path, 401]);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
    }
  });

  it("takes the current secret and the previous one", async () => {
    const control = await testControl();
    for (const secret of [currentSecret, previousSecret]) {
      expect((await control.call("/nothing-here", { secret })).status).toBe(404);
    }
  });

  it("takes nothing else: no part of a secret, no Basic, no cookie, no query parameter", async () => {
    const control = await testControl();
    const basic = `Basic ${Buffer.from(`admin:${currentSecret}`).toString("base64")}`;
    const calls = [
      { secret: currentSecret.slice(1) },
      { secret: `${currentSecret}x` },
      { secret: undefined, headers: { authorization: basic } },
      { secret: undefined, headers: { authorization: currentSecret } },
      { secret: undefined, headers: { cookie: `gateway_session=${currentSecret}` } },
    ];
    for (const call of calls) expect((await control.call("/config", call)).status).toBe(401);
    const inQuery = await control.call(`/config?secret=${currentSecret}`, { secret: undefined });
    expect(inQuery.status).toBe(401);
  });

  it("opens nothing when no secret is configured", async () => {
    const control = await testControl({ secrets: [] });
    for (const secret of ["", undefined, currentSecret]) {
      expect((await control.call("/config", { secret })).status).toBe(401);
    }
  });

  it("counts failures, and slows down an address that fails again and again", async () => {
    const control = await testControl();
    const wrong = { secret: "wrong", address: "198.51.100.1" };
    for (let count = 0; count < 10; count += 1) {
      expect((await control.call("/config", wrong)).status).toBe(401);
    }
    const slowed = await control.call("/config", wrong);
    expect(slowed.status).toBe(429);
    expect(Number(slowed.headers.get("retry-after"))).toBe(6);
    expect(control.host.metrics.value("gateway_worker_auth_failures_total", {})).toBe(11);

    await control.host.advance(6_000);
    expect((await control.call("/config", wrong)).status).toBe(401);
  });

  it("does not slow down a worker for what others at its address did", async () => {
    const control = await testControl();
    for (let count = 0; count < 20; count += 1) await control.call("/config", { secret: "wrong" });
    expect((await control.call("/nothing-here")).status).toBe(404);
    expect((await control.call("/config", { secret: "wrong" })).status).toBe(429);
    const elsewhere = { secret: "wrong", address: "198.51.100.2" };
    expect((await control.call("/config", elsewhere)).status).toBe(401);
  });

  it("logs the address and never what was presented", async () => {
    const control = await testControl();
    await control.call("/config", { secret: "a-guess-of-somebody" });
    await control.call("/config", { secret: currentSecret });
    expect(control.host.log.lines).toContainEqual({
      level: "warn",
      event: "workerApi.authFailed",
      fields: { address: "192.0.2.1" },
    });
    const text = JSON.stringify(control.host.log.lines);
    expect(text).not.toContain("a-guess-of-somebody");
    expect(text).not.toContain(currentSecret);
  });
});
