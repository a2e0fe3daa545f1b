import { gatewayError } from "@gateway/core/error.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterEach, describe, expect, it } from "vitest";
import { answers, endless, waitForAbort } from "../rig/answers.ts";
import { ended, runs } from "../rig/wait.ts";
import * as flight from "./proto/Flight_pb.js";
import * as sql from "./proto/FlightSql_pb.js";
import { ticketOf } from "./rig/client.ts";
import { openFlight, refusalOf, type OpenFlight } from "./rig/open.ts";

let open: OpenFlight | undefined;
afterEach(async () => {
  await open?.done();
  open = undefined;
});

const passwords = { ann: "a", bob: "b" };
const ann = { user: "ann", password: "a" };

describe("a ticket", () => {
  it("is refused in the same words when forged, foreign or used up", async () => {
    open = await openFlight({ answers, passwords });
    const client = await open.client(ann);
    const other = await open.client({ user: "bob", password: "b" });
    const ticket = ticketOf(await client.queryInfo("SELECT 1"));
    const foreign = await refusalOf(other.get(ticket));
    const forged = Uint8Array.from(ticket ?? []);
    forged[forged.length - 4] = (forged[forged.length - 4] ?? 0) ^ 1;
    expect(await refusalOf(client.get(forged))).toBe(foreign);
    expect((await client.get(ticket)).table.numRows).toBe(1);
    expect(await refusalOf(client.get(ticket))).toBe(foreign);
    expect(await refusalOf(client.get(Buffer.from("nonsense")))).toBe(foreign);
    expect(foreign).toBe("5 NOT_FOUND: There is no such query.");
  });

  it("of another listener leads elsewhere", async () => {
    open = await openFlight({ answers });
    await using another = await openFlight({ answers });
    const ticket = ticketOf(await (await another.client()).queryInfo("SELECT 1"));
    expect(await refusalOf((await open.client()).get(ticket))).toMatch(/^14 UNAVAILABLE/);
  });

  it("carries the schema that its rows have, before they are read", async () => {
    open = await openFlight({ answers });
    const client = await open.client();
    const info = await client.queryInfo("SELECT samples");
    const { data } = await client.get(ticketOf(info));
    // Encapsulated: four bytes that announce it, four of its length.
    expect(info.schema.subarray(8)).toEqual(data[0]?.dataHeader);
    expect(Buffer.from(info.appMetadata).toString()).toBe(open.door.queries[0]?.id);
  });
});

describe("cancelling", () => {
  it("ends a query whose rows are being read, and tells its reader", async () => {
    open = await openFlight({ answers: { "SELECT endless": endless } });
    const client = await open.client();
    const info = await client.queryInfo("SELECT endless");
    let cancelling: Promise<readonly Uint8Array[]> | undefined;
    const request = create(flight.CancelFlightInfoRequestSchema, { info });
    const body = toBinary(flight.CancelFlightInfoRequestSchema, request);
    const ticket = create(flight.TicketSchema, { ticket: ticketOf(info) ?? new Uint8Array(0) });
    const reading = client.call("DoGet", [toBinary(flight.TicketSchema, ticket)], () => {
      cancelling ??= client.action("CancelFlightInfo", body);
    });
    expect(await refusalOf(reading)).toMatch(/^1 CANCELLED/);
    const [answer = new Uint8Array(0)] = (await cancelling) ?? [];
    const { status } = fromBinary(flight.CancelFlightInfoResultSchema, answer);
    expect(status).toBe(flight.CancelStatus.CANCELLED);
    await ended(open.door, "SELECT endless");
  });

  it("ends a query that waits for its reader", async () => {
    open = await openFlight({ answers: { "SELECT endless": endless } });
    const client = await open.client();
    const info = await client.queryInfo("SELECT endless");
    const request = create(sql.ActionCancelQueryRequestSchema, {
      info: toBinary(flight.FlightInfoSchema, info),
    });
    const answer = await client.ask(
      "CancelQuery",
      [sql.ActionCancelQueryRequestSchema, request],
      sql.ActionCancelQueryResultSchema,
    );
    expect(answer.result).toBe(sql.ActionCancelQueryResult_CancelResult.CANCELLED);
    await ended(open.door, "SELECT endless");
    expect(await refusalOf(client.get(ticketOf(info)))).toMatch(/^5 NOT_FOUND/);
  });

  it("is what a client does that leaves before its query answers", async () => {
    open = await openFlight({ answers: { "SELECT wait": waitForAbort } });
    const client = await open.client();
    const waiting = refusalOf(client.queryInfo("SELECT wait"));
    await runs(open.door, "SELECT wait");
    client.destroy();
    expect(await waiting).toMatch(/^14 UNAVAILABLE/);
    await ended(open.door, "SELECT wait");
  });
});

describe("a slow reader", () => {
  it("stops the engine", async () => {
    let batches = 0;
    const column = columnOf("n", { kind: "integer", bits: 64, signed: true });
    const batch = batchOf(
      [column],
      Array.from({ length: 40_000 }, (_, row) => [BigInt(row)]),
    );
    open = await openFlight({
      answers: {
        ...answers,
        "SELECT wide": async function* (_query, signal) {
          yield { kind: "columns", columns: [column] };
          for (; !signal.aborted; batches += 1) {
            yield { kind: "batch", batch };
            await new Promise((resolve) => setImmediate(resolve));
          }
          yield { kind: "failed", error: gatewayError("query.cancelled") };
        },
      },
    });
    const client = await open.client();
    const info = await client.queryInfo("SELECT wide");
    const ticket = create(flight.TicketSchema, { ticket: ticketOf(info) ?? new Uint8Array(0) });
    let leave: (() => void) | undefined;
    const stopped = new Promise<void>((resolve) => {
      const reading = client.call("DoGet", [toBinary(flight.TicketSchema, ticket)], (_, cancel) => {
        leave = cancel;
        resolve();
        return new Promise<void>(() => undefined);
      });
      reading.catch(() => undefined);
    });
    await stopped;
    // Many turns of the event loop, in each of which an engine that nobody stops makes a batch.
    const other = await open.client();
    for (let count = 0; count < 30; count += 1) await other.query("SELECT 1");
    const megabytes = (batches * 40_000 * 8) / 1024 / 1024;
    expect(megabytes).toBeLessThan(24);
    leave?.();
    await ended(open.door, "SELECT wide");
  });
});

describe("the token of a login", () => {
  it("stands for the password, and no other text does", async () => {
    open = await openFlight({ answers, passwords });
    const client = await open.client(ann);
    const token = await client.handshake();
    expect(token).toMatch(/^Bearer gateway\./);
    expect((await client.query("SELECT 1")).table.numRows).toBe(1);
    client.headers.set("authorization", `${token.slice(0, -2)}AA`);
    expect(await refusalOf(client.query("SELECT 1"))).toMatch(/^16 UNAUTHENTICATED/);
    client.headers.delete("authorization");
    expect(await refusalOf(client.query("SELECT 1"))).toMatch(/^16 UNAUTHENTICATED/);
  });

  it("is given for a name and password in the first message of a handshake", async () => {
    open = await openFlight({ answers, passwords });
    const client = await open.client({});
    const auth = create(flight.BasicAuthSchema, { username: "bob", password: "b" });
    const payload = toBinary(flight.BasicAuthSchema, auth);
    const request = create(flight.HandshakeRequestSchema, { payload });
    const { headers } = await client.call("Handshake", [
      toBinary(flight.HandshakeRequestSchema, request),
    ]);
    client.headers.set("authorization", String(headers.get("authorization")[0]));
    await client.query("SELECT 1");
    expect(open.door.queries[0]?.session.identity.user).toBe("bob");
  });
});

describe("the options of a session", () => {
  it("travel in a cookie of their user, and others are refused by name", async () => {
    open = await openFlight({ answers, passwords });
    const client = await open.client(ann);
    const text = (value: string) =>
      create(flight.SessionOptionValueSchema, { optionValue: { case: "stringValue", value } });
    const request = create(flight.SetSessionOptionsRequestSchema, {
      sessionOptions: { catalog: text("memory"), colour: text("red") },
    });
    const action = create(flight.ActionSchema, {
      type: "SetSessionOptions",
      body: toBinary(flight.SetSessionOptionsRequestSchema, request),
    });
    const set = await client.call("DoAction", [toBinary(flight.ActionSchema, action)]);
    const { body } = fromBinary(flight.ResultSchema, set.messages[0] ?? new Uint8Array(0));
    const { errors } = fromBinary(flight.SetSessionOptionsResultSchema, body);
    expect(Object.keys(errors)).toEqual(["colour"]);
    const cookie = String(set.headers.get("set-cookie")[0]).split(";")[0] ?? "";
    client.headers.set("cookie", cookie);
    await client.query("SELECT 1");
    expect(open.door.queries.at(-1)?.session.catalog).toBe("memory");
    const other = await open.client({ user: "bob", password: "b" });
    other.headers.set("cookie", cookie);
    await other.query("SELECT 1");
    expect(open.door.queries.at(-1)?.session.catalog).toBeUndefined();
  });
});

describe("what is not built", () => {
  it("is refused as unimplemented and runs nothing", async () => {
    open = await openFlight({ answers });
    const client = await open.client();
    const plan = create(sql.CommandStatementSubstraitPlanSchema, {});
    const refused = [
      () => client.put(sql.CommandStatementSubstraitPlanSchema, plan),
      () => client.call("ListFlights", [new Uint8Array(0)]),
      () => client.call("DoExchange", [new Uint8Array(0)]),
      () => client.call("Undreamt", [new Uint8Array(0)]),
      () => client.action("BeginSavepoint", new Uint8Array(0)),
      () => client.update("BEGIN"),
      () => client.update("SET x = 1"),
    ];
    for (const one of refused) expect(await refusalOf(one())).toMatch(/^12 UNIMPLEMENTED/);
    expect(open.door.queries).toEqual([]);
  });
});
