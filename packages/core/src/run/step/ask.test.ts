import { describe, expect, it } from "vitest";
import { gatewayError } from "../../error.ts";
import type { ResultEvent } from "../../query/event.ts";
import { planeOf, queryOf, type Execute, type TestPlane } from "../rig/plane.ts";
import { runQuery } from "../run.ts";

const silent: Execute = async function* () {
  // No statement runs in these tests.
};

describe("a question on the line to an engine", () => {
  it("is asked of another cluster when the first one can not be connected to", async () => {
    let asked = 0;
    const begins = () => {
      asked += 1;
      return asked > 1;
    };
    const plane = planeOf({
      clusters: { first: silent, second: silent },
      transactions: { goesOn: () => true, begins },
    });
    const events = await begun(plane, new AbortController().signal);
    expect(events.at(-1)).toMatchObject({ kind: "done", updateType: "BEGIN" });
    expect(plane.lanes).toEqual(["begin second"]);
    expect(plane.reached).toEqual(["first failed", "second succeeded"]);
    expect([...plane.slots]).toEqual(["second#2"]);
    expect(plane.records).toMatchObject([
      {
        cluster: "second",
        routingTrace: [
          { step: "fallback", outcome: "main" },
          { step: "attempt", outcome: "first unreachable" },
        ],
      },
    ]);
  });

  it("is unavailable where no cluster is left, and holds nothing", async () => {
    const plane = planeOf({
      clusters: { only: silent },
      transactions: { goesOn: () => true, begins: () => false },
    });
    const events = await begun(plane, new AbortController().signal);
    expect(events.at(-1)).toMatchObject({ error: { code: "cluster.unavailable" } });
    expect(plane.slots.size).toBe(0);
  });

  it.each(["translate", "identify"] as const)(
    "is not asked of it where %s refuses, and holds nothing",
    async (step) => {
      const error = gatewayError("auth.noBackendIdentity");
      const plane = planeOf({ clusters: { main: silent }, refuse: { [step]: error } });
      const events = await begun(plane, new AbortController().signal);
      expect(events.at(-1)).toMatchObject({ kind: "failed", error });
      expect(plane.lanes).toEqual([]);
      expect(plane.slots.size).toBe(0);
    },
  );

  it("takes back the answer to a client that left meanwhile", async () => {
    const client = new AbortController();
    const begins = () => {
      client.abort(gatewayError("query.cancelled"));
      return true;
    };
    const plane = planeOf({
      clusters: { main: silent },
      transactions: { goesOn: () => true, begins },
    });
    const events = await begun(plane, client.signal);
    expect(events.at(-1)).toMatchObject({ error: { code: "query.cancelled" } });
    expect(plane.lanes).toEqual(["begin main", "closed"]);
    expect(plane.slots.size).toBe(0);
    // Nothing is known of the cluster by it.
    expect(plane.reached).toEqual(["main neutral"]);
  });
});

describe("a query whose client leaves between the slot and the statement", () => {
  it("is not sent", async () => {
    let executed = 0;
    const counting: Execute = async function* () {
      executed += 1;
      yield { kind: "failed", error: gatewayError("engine.broken") };
    };
    const client = new AbortController();
    const plane = planeOf({ clusters: { main: counting } });
    const stream = runQuery(queryOf("select 1"), plane, client.signal);
    expect((await stream.next()).value).toMatchObject({ kind: "progress" });
    client.abort(gatewayError("query.cancelled"));
    expect((await stream.next()).value).toMatchObject({ error: { code: "query.cancelled" } });
    expect(executed).toBe(0);
    await plane.host.settle();
    expect(plane.slots.size).toBe(0);
  });
});

async function begun(plane: TestPlane, signal: AbortSignal): Promise<readonly ResultEvent[]> {
  const events: ResultEvent[] = [];
  for await (const event of runQuery(queryOf("BEGIN"), plane, signal)) events.push(event);
  return events;
}
