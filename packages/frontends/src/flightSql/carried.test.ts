/** Calls about what another gateway has: the ticket or handle leads there, whoever gets the call. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DoneEvent, ResultEvent } from "@gateway/core/query/event.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { afterEach, describe, expect, it } from "vitest";
import { answers, endless, gateOf } from "../rig/answers.ts";
import type { Script } from "../rig/scriptedDoor.ts";
import { ended } from "../rig/wait.ts";
import * as flight from "./proto/Flight_pb.js";
import * as sql from "./proto/FlightSql_pb.js";
import { againOf, statementOf, ticketOf, type FlightClient } from "./rig/client.ts";
import { openFleet, type FlightFleet } from "./rig/fleet.ts";
import { refusalOf } from "./rig/open.ts";
import { valuesOf } from "./rig/values.ts";

const integer = { kind: "integer", bits: 32, signed: true } as const;
const column = columnOf("n", integer);
const done: DoneEvent = {
  kind: "done",
  stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 },
};
const wide = columnOf("t", { kind: "text" });
const megabyte: ResultEvent = {
  kind: "batch",
  batch: batchOf(
    [wide],
    Array.from({ length: 1_024 }, () => ["x".repeat(1_024)]),
  ),
};
const gate = gateOf();
const script: Script = {
  answers: {
    ...answers,
    "SELECT endless": endless,
    "SELECT slow": gate.answer,
    "SELECT wide": [
      { kind: "columns", columns: [wide] },
      ...Array.from({ length: 8 }, () => megabyte),
      done,
    ],
    "SELECT $1": async function* ({ parameters }) {
      yield { kind: "columns", columns: [column] };
      yield { kind: "batch", batch: batchOf([column], [[parameters[0]?.value ?? null]]) };
      yield done;
    },
    "INSERT INTO t VALUES ($1)": async function* () {
      yield { ...done, updateType: "INSERT", updateCount: 1 };
    },
  },
  descriptions: {
    "SELECT $1": { parameters: [integer], columns: [column] },
    "INSERT INTO t VALUES ($1)": { parameters: [integer], columns: [] },
  },
  passwords: { ann: "a", bob: "b" },
};
const ann = { user: "ann", password: "a" };

let fleet: FlightFleet;
afterEach(() => fleet[Symbol.asyncDispose]());

/** The fleet, and a client of each of its gateways. */
async function opened(): Promise<{ near: FlightClient; far: FlightClient }> {
  fleet = await openFleet(script);
  return { near: await fleet.owner.client(ann), far: await fleet.other.client(ann) };
}

describe("a ticket of another gateway", () => {
  it("is answered there, with all rows and once", async () => {
    const { near, far } = await opened();
    const ticket = ticketOf(await near.queryInfo("SELECT wide"));
    expect((await far.get(ticket)).table.numRows).toBe(8 * 1_024);
    expect(fleet.other.door.queries).toEqual([]);
    expect(await refusalOf(far.get(ticket))).toMatch(/^5 NOT_FOUND/);
  });

  it("is judged there by who asks, and in the same words", async () => {
    const { near } = await opened();
    const ticket = ticketOf(await near.queryInfo("SELECT 1"));
    const bob = await fleet.other.client({ user: "bob", password: "b" });
    expect(await refusalOf(bob.get(ticket))).toBe("5 NOT_FOUND: There is no such query.");
    const wrong = await fleet.other.client({ user: "ann", password: "b" });
    expect(await refusalOf(wrong.get(ticket))).toMatch(/^16 UNAUTHENTICATED/);
    expect(fleet.carried).toEqual(["/DoGet"]);
    expect((await near.get(ticket)).table.numRows).toBe(1);
  });

  it("passes on how its query failed, behind the rows before", async () => {
    const { near, far } = await opened();
    const ticket = ticketOf(await near.queryInfo("SELECT broken"));
    expect(await refusalOf(far.get(ticket))).toMatch(/^13 INTERNAL: The engine's answer/);
  });

  it("ends its query there when its reader leaves, who stopped it before", async () => {
    const { near, far } = await opened();
    const ticket = ticketOf(await near.queryInfo("SELECT endless"));
    const request = create(flight.TicketSchema, { ticket: ticket ?? new Uint8Array(0) });
    const reading = far.call("DoGet", [toBinary(flight.TicketSchema, request)], () => {
      far.destroy();
    });
    expect(await refusalOf(reading)).toMatch(/^\d+ /);
    await ended(fleet.owner.door, "SELECT endless");
  });

  it("is refused as elsewhere when its gateway is gone, and breaks off when that goes", async () => {
    const { near, far } = await opened();
    const [first, second] = [
      ticketOf(await near.queryInfo("SELECT endless")),
      ticketOf(await near.queryInfo("SELECT 1")),
    ];
    const request = create(flight.TicketSchema, { ticket: first ?? new Uint8Array(0) });
    const reading = far.call("DoGet", [toBinary(flight.TicketSchema, request)], () => {
      fleet.killOwner();
    });
    expect(await refusalOf(reading)).toMatch(/^13 INTERNAL: The gateway that has the query/);
    const gone = "14 UNAVAILABLE: The query lives on another instance of the gateway.";
    expect(await refusalOf(far.get(second))).toBe(gone);
  });

  it("is cancelled there", async () => {
    const { near, far } = await opened();
    const info = await near.queryInfo("SELECT endless");
    const request = create(flight.CancelFlightInfoRequestSchema, { info });
    const body = toBinary(flight.CancelFlightInfoRequestSchema, request);
    const [answer = new Uint8Array(0)] = await far.action("CancelFlightInfo", body);
    const { status } = fromBinary(flight.CancelFlightInfoResultSchema, answer);
    expect(status).toBe(flight.CancelStatus.CANCELLED);
    const again = create(sql.ActionCancelQueryRequestSchema, {
      info: toBinary(flight.FlightInfoSchema, await near.queryInfo("SELECT endless")),
    });
    const { result } = await far.ask(
      "CancelQuery",
      [sql.ActionCancelQueryRequestSchema, again],
      sql.ActionCancelQueryResultSchema,
    );
    expect(result).toBe(sql.ActionCancelQueryResult_CancelResult.CANCELLED);
    await expect
      .poll(() => fleet.owner.door.queries.map(({ sql: text }) => text))
      .toEqual(["SELECT endless", "SELECT endless"]);
    await ended(fleet.owner.door, "SELECT endless");
  });
});

describe("a poll", () => {
  it("is answered by any gateway, and so are its rows", async () => {
    const { near, far } = await opened();
    const pending = await near.poll(statementOf("SELECT slow"));
    const bob = await fleet.other.client({ user: "bob", password: "b" });
    expect(await refusalOf(bob.poll(againOf(pending)))).toMatch(/^5 NOT_FOUND/);
    gate.open();
    const { info, flightDescriptor } = await far.poll(againOf(pending));
    expect(flightDescriptor).toBeUndefined();
    expect(info === undefined || (await near.get(ticketOf(info))).table.numRows).toBe(1);
    expect(fleet.other.door.queries).toEqual([]);
    fleet.killOwner();
    expect(await refusalOf(far.poll(againOf(pending)))).toMatch(/^14 UNAVAILABLE/);
  });
});

describe("a prepared statement of another gateway", () => {
  it("takes values over any, runs over any, and is closed over any", async () => {
    const { near, far } = await opened();
    const handle = await prepared(near, "SELECT ?");
    const command = create(sql.CommandPreparedStatementQuerySchema, {
      preparedStatementHandle: handle,
    });
    await far.put(sql.CommandPreparedStatementQuerySchema, command, valuesOf([7n]));
    const info = await far.info(sql.CommandPreparedStatementQuerySchema, command);
    const { table } = await far.get(ticketOf(info));
    expect(table.getChildAt(0)?.get(0)).toBe(7);
    const update = create(sql.CommandPreparedStatementUpdateSchema, {
      preparedStatementHandle: await prepared(near, "INSERT INTO t VALUES (?)"),
    });
    const [answer = new Uint8Array(0)] = await far.put(
      sql.CommandPreparedStatementUpdateSchema,
      update,
      valuesOf([1n, 2n]),
    );
    expect(fromBinary(sql.DoPutUpdateResultSchema, answer).recordCount).toBe(2n);
    const closing = create(sql.ActionClosePreparedStatementRequestSchema, {
      preparedStatementHandle: handle,
    });
    const close = (client: FlightClient) =>
      client.ask(
        "ClosePreparedStatement",
        [sql.ActionClosePreparedStatementRequestSchema, closing],
        flight.ResultSchema,
      );
    await close(far);
    expect(await refusalOf(close(near))).toMatch(/^5 NOT_FOUND/);
    fleet.killOwner();
    const lost = refusalOf(far.info(sql.CommandPreparedStatementQuerySchema, command));
    expect(await lost).toMatch(/^14 UNAVAILABLE/);
  });
});

describe("a session", () => {
  it("is its cookie, and its token, to any gateway", async () => {
    const { near, far } = await opened();
    const token = await near.handshake();
    far.headers.set("authorization", token);
    const request = create(flight.SetSessionOptionsRequestSchema, {
      sessionOptions: {
        catalog: { optionValue: { case: "stringValue", value: "sales" } },
      },
    });
    const { headers } = await near.call("DoAction", [
      toBinary(
        flight.ActionSchema,
        create(flight.ActionSchema, {
          type: "SetSessionOptions",
          body: toBinary(flight.SetSessionOptionsRequestSchema, request),
        }),
      ),
    ]);
    const [cookie = ""] = headers.get("set-cookie").map(String);
    far.headers.set("cookie", cookie.split(";", 1)[0] ?? "");
    await far.query("SELECT 1");
    expect(fleet.other.door.queries[0]?.session).toMatchObject({
      catalog: "sales",
      identity: { user: "ann" },
    });
  });
});

async function prepared(client: FlightClient, query: string): Promise<Uint8Array> {
  const request = create(sql.ActionCreatePreparedStatementRequestSchema, { query });
  const { preparedStatementHandle } = await client.ask(
    "CreatePreparedStatement",
    [sql.ActionCreatePreparedStatementRequestSchema, request],
    sql.ActionCreatePreparedStatementResultSchema,
  );
  return preparedStatementHandle;
}
