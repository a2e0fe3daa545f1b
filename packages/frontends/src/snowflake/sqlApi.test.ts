/** The SQL API by hand. */
import type { ResultStream } from "@gateway/core/query/event.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import { gateOf, waitForAbort } from "../rig/answers.ts";
import { opened } from "./rig/server.ts";

const n = [columnOf("n", { kind: "integer", bits: 64, signed: true })];
const stats = { queueMs: 0, executionMs: 0, rows: 1, bytes: 8 };
const one = [
  { kind: "columns", columns: n },
  { kind: "batch", batch: batchOf(n, [[1n]]) },
  { kind: "done", stats },
] as const;
const path = "/api/v2/statements";

describe("the SQL API", () => {
  it("runs a statement in the place that its body names", async () => {
    const server = await opened({ answers: { "SELECT 1": one } });
    const body = { statement: "SELECT 1", database: "d", schema: "s", warehouse: "w" };
    const answer = await ask(server.url, path, body);
    expect(answer).toMatchObject({
      status: 200,
      code: "090001",
      data: [["1"]],
      resultSetMetaData: { numRows: 1, partitionInfo: [{ rowCount: 1 }] },
    });
    expect(server.door.queries.at(-1)?.session).toMatchObject({ catalog: "d", schema: "s" });
  });

  it("answers later what it is not to wait for, by the handle and to its user alone", async () => {
    const gate = gateOf();
    const server = await opened({ answers: { "SELECT wait": gate.answer } });
    const begun = await ask(server.url, `${path}?async=true`, { statement: "SELECT wait" });
    expect(begun).toMatchObject({ status: 202, code: "333334" });
    const { statementStatusUrl } = begun;
    expect(await ask(server.url, statementStatusUrl)).toMatchObject({ status: 202 });
    gate.open();
    const status = async () => (await ask(server.url, statementStatusUrl)).status as number;
    await expect.poll(status, { timeout: 20_000 }).toBe(200);
    expect(await ask(server.url, statementStatusUrl)).toMatchObject({ data: [["1"]] });
    expect(await ask(server.url, `${path}/20990101_000000_00000_abc`)).toMatchObject({
      status: 404,
    });
  });

  it("ends a statement by its handle, and when its time is over", async () => {
    const server = await opened({ answers: { "SELECT wait": waitForAbort } });
    const begun = await ask(server.url, `${path}?async=true`, { statement: "SELECT wait" });
    const ended = await ask(server.url, `${begun.statementStatusUrl}/cancel`, {});
    expect(ended).toMatchObject({ status: 200, code: "000604" });
    await server.door.untilEnded(1);
    const late = await ask(server.url, path, { statement: "SELECT wait", timeout: 1 });
    expect(late).toMatchObject({ status: 422 });
  });

  it("gives a long result in partitions", async () => {
    const server = await opened({ answers: { many } });
    const first = await ask(server.url, path, { statement: "many" });
    const { partitionInfo } = first.resultSetMetaData;
    const rows = [...first.data];
    for (let at = 1; at < partitionInfo.length; at += 1) {
      const { data } = await ask(server.url, `${first.statementStatusUrl}?partition=${at}`);
      expect(data).toHaveLength(partitionInfo[at].rowCount);
      for (const row of data) rows.push(row);
    }
    expect(rows).toHaveLength(manyRows);
    const beyond = `${first.statementStatusUrl}?partition=${partitionInfo.length}`;
    expect(await ask(server.url, beyond)).toMatchObject({ status: 400 });
  });

  it("says what is wrong by its status: who asks, or what is asked", async () => {
    const server = await opened({ answers: {}, passwords: { ann: "secret" }, takesTokens: true });
    expect(await ask(server.url, path, { statement: "SELECT 1" })).toMatchObject({ status: 401 });
    const open = await opened({ answers: {} });
    for (const [body, status] of [
      [{ statement: "SELECT" }, 422],
      [{ statement: "SELECT 1", role: "admin" }, 422],
      [{ statement: "SELECT 1", parameters: { AUTOCOMMIT: "false" } }, 422],
      [{ statement: 1 }, 400],
      [{ statement: "SELECT ?", bindings: { 1: { type: "FIXED", value: "x" } } }, 422],
    ] as const) {
      expect(await ask(open.url, path, body)).toMatchObject({ status });
    }
  });
});

const manyRows = 300_000;

async function* many(): ResultStream {
  yield { kind: "columns", columns: n };
  const rows = 10_000;
  for (let from = 0; from < manyRows; from += rows) {
    const values = Array.from({ length: rows }, (_, row) => [BigInt(from + row)]);
    yield { kind: "batch", batch: batchOf(n, values) };
  }
  yield { kind: "done", stats };
}

// oxlint-disable-next-line typescript/no-explicit-any -- each test knows what it asked for
async function ask(url: string, at: string, body?: unknown): Promise<any> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url + at, init);
  return { ...((await response.json()) as object), status: response.status };
}
