import { describe, expect, it } from "vitest";
import type { Presented } from "../port/authenticator.ts";
import { gatewayError } from "../error.ts";
import { err } from "../result.ts";
import { Secret } from "../secret.ts";
import { openDoor } from "./openDoor.ts";
import { planeOf } from "./rig/plane.ts";

const at = { frontend: "postgresWire", address: "192.0.2.1" };
const secret = "canary-password";

describe("a login that is refused", () => {
  const shown: readonly (readonly [Presented, object])[] = [
    [
      { kind: "nothing", user: "alice", asked: true },
      { shown: "nothing", user: "alice" },
    ],
    [
      { kind: "password", user: "alice", password: new Secret(secret) },
      { shown: "password", user: "alice" },
    ],
    [
      { kind: "bearer", token: new Secret(secret), claimedUser: undefined },
      { shown: "bearer", user: undefined },
    ],
    [
      { kind: "certificate", user: "x".repeat(500), names: [secret] },
      { shown: "certificate", user: "x".repeat(128) },
    ],
  ];

  it.each(shown)("has one line and one count, and no secret in either (%#)", async (one, line) => {
    const plane = planeOf({ clusters: {} });
    const opened = openDoor(plane);
    const answer = await opened.door.authenticate(one, at);
    expect(answer).toEqual(err(gatewayError("auth.refused")));
    const lines = plane.host.log.lines.filter(({ event }) => event === "auth.refused");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: "warn",
      fields: { ...line, code: "auth.refused", ...at },
    });
    expect(JSON.stringify(lines)).not.toContain(secret);
    expect(plane.host.metrics.value("gateway_auth_failures_total", countedBy("auth.refused"))).toBe(
      1,
    );
    await opened.close();
  });

  it("by a frontend is counted by its own reason", async () => {
    const plane = planeOf({ clusters: {} });
    const opened = openDoor(plane);
    opened.door.refused("auth.cleartext", { kind: "password", user: "alice" }, at);
    const counted = plane.host.metrics.value(
      "gateway_auth_failures_total",
      countedBy("auth.cleartext"),
    );
    expect(counted).toBe(1);
    expect(plane.host.log.lines.at(-1)).toMatchObject({
      event: "auth.refused",
      fields: { code: "auth.cleartext", shown: "password", user: "alice", ...at },
    });
    await opened.close();
  });
});

function countedBy(reason: string) {
  return { frontend: at.frontend, reason };
}
