import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { gatewayError } from "@gateway/core/error.ts";
import type { EngineWork, ResultStream } from "@gateway/core/query/event.ts";
import { afterEach, describe, expect, it } from "vitest";
import { answers, gateOf, waitForAbort } from "../rig/answers.ts";
import { ended } from "../rig/wait.ts";
import * as flight from "./proto/Flight_pb.js";
import * as sql from "./proto/FlightSql_pb.js";
import { againOf, descriptorOf, statementOf, ticketOf } from "./rig/client.ts";
import { openFlight, refusalOf, type OpenFlight } from "./rig/open.ts";

let open: OpenFlight;
afterEach(() => open.done());

const passwords = { ann: "a", bob: "b" };
const ann = { user: "ann", password: "a" };
const unknown = "5 NOT_FOUND: There is no such query.";

describe("polling", () => {
  it("tells how far a query is until its rows can be read, and its owner alone", async () => {
    const gate = gateOf();
    const work: EngineWork = {
      splitsQueued: 0,
      splitsRunning: 1,
      splitsDone: 0,
      nodes: 1,
      cpuMs: 0,
      rowsRead: 0,
      bytesRead: 0,
      peakBytes: 0,
      percent: 40,
    };
    const slow = async function* (): ResultStream {
      const stats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0, work };
      yield { kind: "progress", state: "running", stats };
      yield* gate.answer();
    };
    open = await openFlight({ answers: { "SELECT slow": slow }, passwords });
    const client = await open.client(ann);
    const pending = await client.poll(statementOf("SELECT slow"));
    expect(pending.progress).toBe(0.4);
    expect(pending.info?.endpoint).toEqual([]);
    const again = againOf(pending);
    const bob = await open.client({ user: "bob", password: "b" });
    expect(await refusalOf(bob.poll(again))).toBe(unknown);
    gate.open();
    const { info = create(flight.FlightInfoSchema, {}), flightDescriptor } =
      await client.poll(again);
    expect(flightDescriptor).toBeUndefined();
    // What was answered before a network broke off may be asked again, as long as nobody reads the rows.
    expect((await client.poll(again)).info?.endpoint).toHaveLength(1);
    const { table, data } = await client.get(ticketOf(info));
    expect(table.numRows).toBe(1);
    expect(info.schema.subarray(8)).toEqual(data[0]?.dataHeader);
    expect(await refusalOf(client.poll(again))).toBe(unknown);
    expect(open.door.queries).toHaveLength(1);
  });

  it("needs one answer where there is nothing to wait for", async () => {
    open = await openFlight({ answers });
    const client = await open.client();
    const catalogs = create(sql.CommandGetCatalogsSchema, {});
    for (const descriptor of [
      statementOf("SELECT 1"),
      descriptorOf(sql.CommandGetCatalogsSchema, catalogs),
    ]) {
      const { info, flightDescriptor } = await client.poll(descriptor);
      expect(flightDescriptor).toBeUndefined();
      expect(info?.endpoint).toHaveLength(1);
    }
  });

  it("tells once how a query failed", async () => {
    let fail: () => void = () => undefined;
    const failing = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const broken = async function* (): ResultStream {
      await failing;
      yield { kind: "failed", error: gatewayError("engine.broken") };
    };
    open = await openFlight({ answers: { "SELECT late": broken } });
    const client = await open.client();
    const again = againOf(await client.poll(statementOf("SELECT late")));
    fail();
    expect(await refusalOf(client.poll(again))).toMatch(/^13 INTERNAL/);
    expect(await refusalOf(client.poll(again))).toBe(unknown);
  });

  it("is over when its query is cancelled by what it answered", async () => {
    open = await openFlight({ answers: { "SELECT wait": waitForAbort } });
    const client = await open.client();
    const pending = await client.poll(statementOf("SELECT wait"));
    const { info = create(flight.FlightInfoSchema, {}) } = pending;
    const request = create(flight.CancelFlightInfoRequestSchema, { info });
    const body = toBinary(flight.CancelFlightInfoRequestSchema, request);
    const [answer = new Uint8Array(0)] = await client.action("CancelFlightInfo", body);
    const { status } = fromBinary(flight.CancelFlightInfoResultSchema, answer);
    expect(status).toBe(flight.CancelStatus.CANCELLED);
    await ended(open.door, "SELECT wait");
    expect(await refusalOf(client.poll(againOf(pending)))).toBe(unknown);
  });

  it("goes on in a drain, which lets nothing new begin", async () => {
    const gate = gateOf();
    open = await openFlight({ answers: { ...answers, "SELECT slow": gate.answer } });
    const client = await open.client();
    const again = againOf(await client.poll(statementOf("SELECT slow")));
    const drained = open.drain(new AbortController().signal);
    expect(await refusalOf(client.poll(statementOf("SELECT 1")))).toMatch(/^14 UNAVAILABLE/);
    gate.open();
    const { info } = await client.poll(again);
    if (info !== undefined) await client.get(ticketOf(info));
    await drained;
  });
});
