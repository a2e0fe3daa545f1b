import { workerStatuses } from "@gateway/contract/workerApi.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { statusOf } from "./status.ts";

describe("statusOf", () => {
  it("is what the worker reported until three heartbeats are missed, and offline after that", () => {
    const reported = workerStatuses.filter((status) => status !== "offline");
    fc.assert(
      fc.property(
        fc.constantFrom(...reported),
        fc.integer({ min: 1, max: 3_600 }),
        fc.integer({ min: -60_000, max: 20_000_000 }),
        (status, heartbeatIntervalSecs, silentMs) => {
          const worker = { status, heartbeatIntervalSecs, lastSeenAt: 1_000_000 };
          const offline = silentMs > 3 * heartbeatIntervalSecs * 1_000;
          expect(statusOf(worker, 1_000_000 + silentMs)).toBe(offline ? "offline" : status);
        },
      ),
    );
  });
});
