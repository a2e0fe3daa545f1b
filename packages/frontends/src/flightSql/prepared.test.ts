import { create, fromBinary } from "@bufbuild/protobuf";
import type { DoneEvent } from "@gateway/core/query/event.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { afterEach, describe, expect, it } from "vitest";
import { gateOf } from "../rig/answers.ts";
import type { Script } from "../rig/scriptedDoor.ts";
import { ended } from "../rig/wait.ts";
import * as sql from "./proto/FlightSql_pb.js";
import { ticketOf, type FlightClient } from "./rig/client.ts";
import { openFlight, refusalOf, type OpenFlight } from "./rig/open.ts";
import { valuesOf } from "./rig/values.ts";

const integer = { kind: "integer", bits: 32, signed: true } as const;
const column = columnOf("n", integer);
const done: DoneEvent = {
  kind: "done",
  stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 },
};
const script: Script = {
  answers: {
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
};

let open: OpenFlight;
afterEach(() => open.done());

describe("a prepared statement", () => {
  it("takes values for its places, and runs with the last that were bound", async () => {
    open = await openFlight(script);
    const client = await open.client();
    const { preparedStatementHandle } = await prepared(client, "SELECT ?");
    const command = create(sql.CommandPreparedStatementQuerySchema, { preparedStatementHandle });
    for (const value of [7n, 8n]) {
      const answer = await client.put(
        sql.CommandPreparedStatementQuerySchema,
        command,
        valuesOf([value]),
      );
      const { preparedStatementHandle: handle } = fromBinary(
        sql.DoPutPreparedStatementResultSchema,
        answer[0] ?? new Uint8Array(0),
      );
      expect(handle).toEqual(preparedStatementHandle);
      const { table } = await client.command(sql.CommandPreparedStatementQuerySchema, command);
      expect(table.get(0)?.["n"]).toBe(Number(value));
    }
    await client.put(sql.CommandPreparedStatementQuerySchema, command, valuesOf([1n, 2n]));
    const several = client.command(sql.CommandPreparedStatementQuerySchema, command);
    expect(await refusalOf(several)).toMatch(/^3 INVALID_ARGUMENT/);
  });

  it("runs an update once for each row of values", async () => {
    open = await openFlight(script);
    const client = await open.client();
    const { preparedStatementHandle } = await prepared(client, "INSERT INTO t VALUES (?)");
    const command = create(sql.CommandPreparedStatementUpdateSchema, { preparedStatementHandle });
    const [answer = new Uint8Array(0)] = await client.put(
      sql.CommandPreparedStatementUpdateSchema,
      command,
      [...valuesOf([1n, 2n]), ...valuesOf([3n]).slice(1)],
    );
    expect(fromBinary(sql.DoPutUpdateResultSchema, answer).recordCount).toBe(3n);
    expect(open.door.queries.map(({ parameters }) => parameters[0]?.value)).toEqual([1n, 2n, 3n]);
  });

  it("is refused without its values, to another user, and once it is closed", async () => {
    open = await openFlight(script);
    const client = await open.client();
    const { preparedStatementHandle } = await prepared(client, "SELECT ?");
    const command = create(sql.CommandPreparedStatementQuerySchema, { preparedStatementHandle });
    const run = (who: FlightClient) => who.info(sql.CommandPreparedStatementQuerySchema, command);
    expect(await refusalOf(run(client))).toMatch(/^3 INVALID_ARGUMENT/);
    const foreign = await refusalOf(run(await open.client({ user: "bob" })));
    expect(foreign).toMatch(/^5 NOT_FOUND/);
    const close = create(sql.ActionClosePreparedStatementRequestSchema, {
      preparedStatementHandle,
    });
    await client.ask(
      "ClosePreparedStatement",
      [sql.ActionClosePreparedStatementRequestSchema, close],
      sql.ActionCreatePreparedStatementResultSchema,
    );
    expect(await refusalOf(run(client))).toBe(foreign);
    expect(open.door.queries).toEqual([]);
  });

  it("answers the schema of its description where the engine takes its time", async () => {
    const gate = gateOf();
    open = await openFlight({
      answers: { "SELECT slow": gate.answer },
      descriptions: { "SELECT slow": { parameters: [], columns: [column] } },
    });
    const client = await open.client();
    const { preparedStatementHandle } = await prepared(client, "SELECT slow");
    const command = create(sql.CommandPreparedStatementQuerySchema, { preparedStatementHandle });
    const info = await client.info(sql.CommandPreparedStatementQuerySchema, command);
    gate.open();
    const { table, data } = await client.get(ticketOf(info));
    expect(table.numRows).toBe(1);
    expect(info.schema.subarray(8)).toEqual(data[0]?.dataHeader);
    await ended(open.door, "SELECT slow");
  });
});

function prepared(client: FlightClient, query: string) {
  const request = create(sql.ActionCreatePreparedStatementRequestSchema, { query });
  return client.ask(
    "CreatePreparedStatement",
    [sql.ActionCreatePreparedStatementRequestSchema, request],
    sql.ActionCreatePreparedStatementResultSchema,
  );
}
