import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heartbeatSchema, predecessorText, registerSchema } from "./workerApi.ts";

const registration = {
  name: "worker-7.zone-a",
  instanceId: "instance-00000001",
  labels: { zone: "a" },
  version: "0.1.0",
  schemaVersions: [1],
  heartbeatIntervalSecs: 10,
};

const heartbeat = {
  name: "worker-7.zone-a",
  instanceId: "instance-00000001",
  status: "active",
  stale: false,
  queries: [{ id: "q1", state: "running", since: 1 }],
};

describe("registerSchema", () => {
  it("reads a registration as it is, without adding to it", () => {
    expect(registerSchema.parse(registration)).toEqual(registration);
  });

  it("refuses names that would not be safe in a log line or a path, and ids that could be guessed", () => {
    const faulty = [
      { name: "" },
      { name: "a b" },
      { name: "a\nb" },
      { name: "../a" },
      { name: "a".repeat(254) },
      { instanceId: "short" },
      { instanceId: "instance/00000001" },
      { schemaVersions: [] },
      { heartbeatIntervalSecs: 0 },
      { heartbeatIntervalSecs: 1.5 },
      { other: 1 },
    ];
    for (const fault of faulty) {
      expect(registerSchema.safeParse({ ...registration, ...fault }).success).toBe(false);
    }
  });
});

describe("heartbeatSchema", () => {
  it("reads a heartbeat as it is, without adding to it", () => {
    expect(heartbeatSchema.parse(heartbeat)).toEqual(heartbeat);
  });

  it("takes no word for being offline: that is for the control plane to say", () => {
    expect(heartbeatSchema.safeParse({ ...heartbeat, status: "offline" }).success).toBe(false);
  });

  it("takes a thousand queries and not one more", () => {
    const of = (length: number) =>
      Array.from({ length }, (_, index) => ({ id: `q${index}`, state: "queued", since: 0 }));
    expect(heartbeatSchema.safeParse({ ...heartbeat, queries: of(1_000) }).success).toBe(true);
    expect(heartbeatSchema.safeParse({ ...heartbeat, queries: of(1_001) }).success).toBe(false);
  });
});

describe("predecessorText", () => {
  it("is another text for every other pair of instances", () => {
    const id = fc.stringMatching(/^[A-Za-z0-9_-]{16,64}$/);
    fc.assert(
      fc.property(id, id, id, (a, b, c) => {
        expect(predecessorText(a, b) === predecessorText(a, c)).toBe(b === c);
        expect(predecessorText(a, b) === predecessorText(b, a)).toBe(a === b);
      }),
    );
  });
});
