import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { err } from "../result.ts";
import { abortError, gatewayError, withoutPosition } from "../error.ts";
import type { Backend } from "../port/backend.ts";
import { describeQuery } from "./describe.ts";
import type { Pin } from "../query/pin.ts";
import { planeOf, queryOf, type PlaneOptions, type TestPlane } from "./rig/plane.ts";
import { runQuery } from "./run.ts";

const never = new AbortController().signal;
const limits = { maxExecutionMs: 2_000, maxRows: undefined };
const timeout = { ok: false, error: gatewayError("query.timeout") };

/** An engine that plans until it is told not to. */
const planning: Backend["describe"] = (_query, signal) =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(err(abortError(signal))), { once: true });
  });

describe("describeQuery", () => {
  it("ends at the group's limit of time, and gives its slot back", async () => {
    const plane = describing({ describe: planning, limits });
    const answer = describeQuery(queryOf("select 1"), plane, never);
    await plane.host.advance(1_999);
    expect(plane.slots.size).toBe(1);
    await plane.host.advance(1);
    expect(await answer).toEqual(timeout);
    expect(plane.slots.size).toBe(0);
  });

  it("ends at the same limit in a transaction", async () => {
    const plane = describing({ describe: planning, limits });
    const pin = await beginOn(plane);
    const answer = describeQuery(queryOf("select 1", { pin }), plane, never);
    await plane.host.advance(2_000);
    expect(await answer).toEqual(timeout);
  });

  it("says where an error is in the client's own text, and not where it is in another", async () => {
    const error = gatewayError("query.syntax", { position: 8 });
    const failing: Backend["describe"] = async () => err(error);
    const own = await describeQuery(queryOf("select n"), describing({ describe: failing }), never);
    expect(own).toEqual(err(error));
    const rewritten = describing({ describe: failing, engineSql: "SELECT /* main */ n" });
    const other = await describeQuery(queryOf("select n"), rewritten, never);
    expect(other).toEqual(err(withoutPosition(error)));
  });

  it("takes no slot for a client that has left", async () => {
    const plane = describing({});
    let asked = 0;
    const admitNow = (): undefined => void (asked += 1);
    const counting = { ...plane, capacity: { ...plane.capacity, admitNow } };
    const left = AbortSignal.abort(gatewayError("query.cancelled"));
    expect(await describeQuery(queryOf("select 1"), counting, left)).toMatchObject({
      error: { code: "query.cancelled" },
    });
    expect(asked).toBe(0);
    await describeQuery(queryOf("select 1"), counting, never);
    expect(asked).toBe(1);
  });

  it("leaves nothing that listens to a client that stays", async () => {
    const { signal } = new AbortController();
    await describeQuery(queryOf("select 1"), describing({}), signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("leaves no timer behind an answer", async () => {
    const plane = describing({ limits });
    expect(await describeQuery(queryOf("select 1"), plane, never)).toMatchObject({ ok: true });
    expect(plane.host.timerCount).toBe(0);
  });
});

function describing(options: Partial<PlaneOptions>) {
  return planeOf({ clusters: { main: async function* () {} }, ...options });
}

async function beginOn(plane: TestPlane): Promise<Pin> {
  for await (const event of runQuery(queryOf("BEGIN"), plane, never)) {
    if (event.kind === "session" && event.change.kind === "pinned") return event.change.pin;
  }
  throw new Error("BEGIN made no pin");
}
