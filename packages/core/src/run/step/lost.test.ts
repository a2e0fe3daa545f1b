import { describe, expect, it } from "vitest";
import type { AdmitRequest, Capacity } from "../../port/capacity.ts";
import type { Slot } from "../../query/slot.ts";
import type { Queued, ResultEvent, ResultStream } from "../../query/event.ts";
import { gatewayError, type GatewayError } from "../../error.ts";
import { ok, type Result } from "../../result.ts";
import { batchOf, columnOf } from "../../type/build.ts";
import { describeQuery } from "../describe.ts";
import type { Pin } from "../../query/pin.ts";
import { runQuery } from "../run.ts";
import { planeOf, queryOf, type Execute } from "../rig/plane.ts";

const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];

describe("a query whose slot is lost", () => {
  it("sends nothing when the slot is not valid right before the statement is", async () => {
    const leased = leasedPlane(endless);
    const stream = runQuery(queryOf("select n"), leased.plane, new AbortController().signal);
    // The client takes its time between the slot and the statement.
    expect((await stream.next()).value).toMatchObject({ kind: "queued" });
    expect((await stream.next()).value).toMatchObject({ kind: "progress" });
    leased.lease.valid = false;
    expect(await endOf(stream)).toMatchObject({ kind: "failed", error: { code: "capacity.lost" } });
    expect(leased.executed).toBe(0);
    expect(leased.held).toBe(0);
  });

  it("is ended at the engine's first answer when it was sent too late, and none of it is shown", async () => {
    const leased = leasedPlane(async function* (query, signal) {
      leased.lease.late = true;
      yield* endless(query, signal);
    });
    const events = await allOf(runQuery(queryOf("q"), leased.plane, new AbortController().signal));
    expect(events.map(({ kind }) => kind)).toEqual(["queued", "progress", "failed"]);
    expect(events.at(-1)).toMatchObject({ error: { code: "capacity.lost" } });
    expect(leased.ended).toBe(1);
    expect(leased.held).toBe(0);
  });

  it("is ended at once when the slot is given to others, also while its client does not read", async () => {
    const leased = leasedPlane(endless);
    const stream = runQuery(queryOf("q"), leased.plane, new AbortController().signal);
    for (let count = 0; count < 4; count += 1) await stream.next();
    leased.lose();
    await leased.plane.host.settle();
    expect([leased.ended, leased.held]).toEqual([1, 0]);
    expect(await endOf(stream)).toMatchObject({ kind: "failed", error: { code: "capacity.lost" } });
    expect(leased.plane.records).toMatchObject([{ status: "failed", errorCode: "capacity.lost" }]);
  });

  it("says that it was lost when the engine ended it while this process stood still", async () => {
    const leased = leasedPlane(async function* () {
      yield { kind: "columns", columns };
      leased.lease.valid = false;
      leased.lease.asked = leased.plane.host.settle().then(leased.lose);
      yield { kind: "failed", error: gatewayError("query.cancelled") };
    });
    const end = await endOf(runQuery(queryOf("q"), leased.plane, new AbortController().signal));
    expect(end).toMatchObject({ kind: "failed", error: { code: "capacity.lost" } });
    expect(leased.held).toBe(0);
  });

  it("is asked about by nobody while it is held: the engine's failure is told at once", async () => {
    const leased = leasedPlane(async function* () {
      leased.lease.asked = new Promise(() => {});
      yield { kind: "failed", error: gatewayError("query.syntax") };
    });
    const end = await endOf(runQuery(queryOf("q"), leased.plane, new AbortController().signal));
    expect(end).toMatchObject({ kind: "failed", error: { code: "query.syntax" } });
  });

  it("is told to nobody once it is over", async () => {
    const leased = leasedPlane(one);
    await statement(leased, "select n", undefined);
    expect(leased.waiting).toBe(0);
  });

  it("describes nothing", async () => {
    const leased = leasedPlane(endless);
    leased.lease.valid = false;
    const described = await describeQuery(queryOf("q"), leased.plane, new AbortController().signal);
    expect(described).toMatchObject({ ok: false, error: { code: "capacity.lost" } });
  });
});

describe("a slot in doubt", () => {
  it("is asked about before anything begins under it, which goes on when it is still ours", async () => {
    const leased = leasedPlane(one);
    leased.inDoubt();
    await statement(leased, "select n", undefined);
    expect(leased.executed).toBe(1);
    leased.inDoubt();
    const { signal } = new AbortController();
    expect(await describeQuery(queryOf("q"), leased.plane, signal)).toMatchObject({ ok: true });
    leased.inDoubt();
    const pin = await begun(leased);
    leased.inDoubt();
    await statement(leased, "select n", pin);
    expect(leased.executed).toBe(2);
    expect(leased.plane.lanes).toEqual(["begin main"]);
  });
});

describe("a transaction whose slot is lost", () => {
  it("is rolled back at once when it rests, and the next statement is told", async () => {
    const leased = leasedPlane(one);
    const pin = await begun(leased);
    leased.lose();
    await leased.plane.host.settle();
    expect(leased.plane.lanes).toEqual(["begin main", "closed"]);
    expect(leased.held).toBe(0);
    const events = await statement(leased, "select n", pin);
    expect(events).toMatchObject([
      { kind: "session", change: { kind: "unpinned", outcome: "rolledBack" } },
      { kind: "failed", error: { code: "capacity.lost" } },
    ]);
  });

  it("begins no statement, and commits nothing, under a slot that ran out", async () => {
    for (const sql of ["select n", "commit"]) {
      const leased = leasedPlane(one);
      const pin = await begun(leased);
      leased.lease.valid = false;
      const events = await statement(leased, sql, pin);
      expect(events.at(-1)).toMatchObject({ kind: "failed", error: { code: "capacity.lost" } });
      await leased.plane.host.settle();
      expect(leased.plane.lanes).toEqual(["begin main", "closed"]);
      expect([leased.executed, leased.held]).toEqual([0, 0]);
    }
  });

  it("does not begin under a slot that was lost meanwhile", async () => {
    const leased = leasedPlane(one);
    leased.lease.late = true;
    const events = await statement(leased, "begin", undefined);
    expect(events.at(-1)).toMatchObject({ kind: "failed", error: { code: "capacity.lost" } });
    expect(leased.plane.lanes).toEqual(["begin main", "closed"]);
    expect(leased.held).toBe(0);
  });
});

/** Slots that are leased, and lost when the test says so. */
function leasedPlane(execute: Execute) {
  const lease: { valid: boolean; late: boolean; asked?: Promise<void> } = {
    valid: true,
    late: false,
  };
  const counts = { executed: 0, ended: 0, held: 0 };
  const tells = new Set<() => void>();
  const counted: Execute = async function* (query, signal) {
    counts.executed += 1;
    try {
      yield* execute(query, signal);
    } finally {
      counts.ended += 1;
    }
  };
  async function* admit(
    request: AdmitRequest,
  ): AsyncGenerator<Queued, Result<Slot, GatewayError>, void> {
    const [candidate] = request.candidates(() => 0);
    if (candidate === undefined) throw new Error("no cluster");
    yield { kind: "queued", position: 1 };
    counts.held += 1;
    let held = true;
    return ok({
      cluster: candidate.cluster,
      fence: 1,
      holder: "worker/lease",
      lease: {
        maxExecutionMs: undefined,
        valid: () => lease.valid,
        doubt: () => lease.asked,
        stillValid: () => !lease.late,
        whenLost: (tell) => {
          tells.add(tell);
          return { [Symbol.dispose]: () => void tells.delete(tell) };
        },
      },
      [Symbol.asyncDispose]: async () => {
        if (held) counts.held -= 1;
        held = false;
      },
    });
  }
  const capacity: Capacity = { admitNow: () => undefined, admit, wake: () => {}, counts: () => [] };
  const plane = { ...planeOf({ clusters: { main: counted } }), capacity };
  return {
    plane,
    lease,
    /** Not valid, until a question is answered that the next look at it is told of. */
    inDoubt: () => {
      lease.valid = false;
      lease.asked = (async () => {
        await plane.host.settle();
        lease.valid = true;
      })();
    },
    lose: () => {
      lease.valid = false;
      for (const tell of tells) tell();
    },
    /** How many want to be told of a loss. */
    get waiting() {
      return tells.size;
    },
    get executed() {
      return counts.executed;
    },
    get ended() {
      return counts.ended;
    },
    get held() {
      return counts.held;
    },
  };
}

type Leased = ReturnType<typeof leasedPlane>;

async function begun(leased: Leased): Promise<Pin> {
  for (const event of await statement(leased, "begin", undefined)) {
    if (event.kind === "session" && event.change.kind === "pinned") return event.change.pin;
  }
  throw new Error("not begun");
}

function statement(leased: Leased, sql: string, pin: Pin | undefined): Promise<ResultEvent[]> {
  const query = queryOf(sql, { pin });
  return allOf(runQuery(query, leased.plane, new AbortController().signal));
}

async function allOf(stream: ResultStream): Promise<ResultEvent[]> {
  const events: ResultEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function endOf(stream: ResultStream): Promise<ResultEvent | undefined> {
  return (await allOf(stream)).at(-1);
}

async function* endless(_query: unknown, signal: AbortSignal): ResultStream {
  yield { kind: "columns", columns };
  while (!signal.aborted) yield { kind: "batch", batch: batchOf(columns, [[1n]]) };
}

async function* one(): ResultStream {
  yield { kind: "columns", columns };
}
