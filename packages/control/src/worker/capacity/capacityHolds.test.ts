import type { AcquireResponse } from "@gateway/contract/capacityApi.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { CapacityHolds, type Hold } from "./capacityHolds.ts";

const waiter = { instance: "instance-00000001", queryId: "q1" };
const given: AcquireResponse = {
  granted: [{ cluster: "duck", slot: 0, lease: "lease-of-q1", expiresInMs: 60_000 }],
};

describe("CapacityHolds", () => {
  it("keeps what is given to a query whose own answer is not here yet", () => {
    const { holds } = open();
    holds.expect(waiter);
    expect(holds.give(waiter, given)).toBe("kept");
    expect(holds.expected(waiter)).toBe(given);
    expect(holds.give(waiter, given)).toBe("absent");
  });

  it("ends a held call with what was given, once, and forgets it", () => {
    const { holds, held } = open();
    const call = held();
    expect(holds.give(waiter, given)).toBe("told");
    expect(holds.give(waiter, given)).toBe("absent");
    expect([call.answers, call.left, holds.size]).toEqual([[given], 0, 0]);
  });

  it("ends a call with nothing after its time, when its caller hangs up, or when the process stops", async () => {
    const { host, held, stop } = open();
    const late = held();
    await host.advance(1_000);
    expect(late).toMatchObject({ answers: [undefined], left: 0 });
    const gone = held();
    gone.hangUp();
    expect(gone).toMatchObject({ answers: [undefined], left: 1 });
    const stopped = held();
    stop();
    expect(stopped).toMatchObject({ answers: [undefined], left: 0 });
    expect(host.timerCount).toBe(0);
  });

  it("ends the call of a query that leaves, and no other", () => {
    const { holds, held } = open();
    const call = held();
    holds.leave({ ...waiter, queryId: "another" });
    expect(call.answers).toEqual([]);
    holds.leave(waiter);
    holds.leave(waiter);
    expect([call.answers, call.left, holds.size]).toEqual([[undefined], 0, 0]);
  });

  it("ends the older of two calls of a query", () => {
    const { holds, held } = open();
    const older = held();
    const newer = held();
    holds.give(waiter, given);
    expect([older.answers, newer.answers]).toEqual([[undefined], [given]]);
  });
});

function open() {
  const host = virtualHost(1);
  const stopping = new AbortController();
  const holds = new CapacityHolds(host.clock, stopping.signal);
  const held = () => {
    const signal = new AbortController();
    const answers: (AcquireResponse | undefined)[] = [];
    const call = { answers, left: 0, hangUp: () => signal.abort() };
    const hold: Hold = {
      waiter,
      waitMs: 1_000,
      signal: signal.signal,
      end: (answer) => answers.push(answer),
      left: () => {
        call.left += 1;
      },
    };
    holds.hold(hold);
    return call;
  };
  return { host, holds, held, stop: () => stopping.abort() };
}
