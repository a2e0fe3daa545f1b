import { noModes } from "@gateway/core/sql/session/statement.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import {
  cellsOf,
  fieldsOf,
  letters,
  queryOf,
  RawClient,
  statusOf,
  type Seen,
} from "../rig/rawClient.ts";
import { pinOf } from "../rig/session.ts";
import {
  aborted,
  column,
  doneOf,
  eventually,
  int32,
  resultOf,
  served,
  text,
} from "../rig/served.ts";

const answers = {
  "select 1": resultOf(column("n"), [1n]),
  "select 2": resultOf(column("n"), [2n], [null]),
  insert: [doneOf("INSERT", 2)],
};

describe("simple query", () => {
  it("answers with description, rows, tag and the transaction status", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    const seen = await ask(client, "select 2");
    expect(letters(seen)).toBe("STDDCZ");
    expect(seen[1]?.body.subarray(2, 4).toString()).toBe("n\0");
    expect([seen[2], seen[3]].map((row) => cellsOf(row ?? none))).toEqual([["2"], [null]]);
    expect(tagOf(seen[4])).toBe("SELECT 2");
    expect(seen[5]?.body.toString()).toBe("I");
  });

  it("gives each of several statements its own answer and stops at the first error", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    const seen = await ask(client, "select 1; insert ;; wrong; select 2");
    expect(letters(seen)).toBe("STDCSCSEZ");
    const asked = server.door.queries.map(({ sql }) => sql);
    expect(asked).toEqual(["select 1", "BEGIN", "insert", "wrong"]);
    // The script's error points at the first character of its statement.
    expect(errorOf(seen.at(-2))).toMatchObject({ S: "ERROR", C: "42601", P: "21" });
  });

  it("answers nothing but white space and comments as an empty query", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    for (const sql of ["", " ;; ", "-- nothing"])
      expect(letters(await ask(client, sql))).toBe("IZ");
    expect(server.door.queries).toEqual([]);
  });

  it("tells the id of each query by a status, and by none when asked not to", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    const [status] = await ask(client, "select 1");
    expect(statusOf(status ?? none)).toEqual(["gateway.query_id", server.door.queries[0]?.id]);
    expect(letters(await ask(client, "set gateway.report_query_id = off; select 1"))).toBe("CTDCZ");
    const shown = await ask(client, "show gateway.query_id");
    expect(cellsOf(shown[1] ?? none)).toEqual([server.door.queries[1]?.id]);
  });

  it("keeps SET in the session and tells reported changes before it is ready", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    const seen = await ask(client, "set timezone = 'Europe/Berlin'; set gateway.tags = 'team:red'");
    expect(letters(seen)).toBe("CCSZ");
    expect(statusOf(seen[2] ?? none)).toEqual(["TimeZone", "Europe/Berlin"]);
    await ask(client, "select 1");
    const session = server.door.queries[0]?.session;
    expect(session?.settings.get("timezone")).toBe("Europe/Berlin");
    expect(session?.tags).toEqual(new Map([["team", "red"]]));
  });

  it("answers the three statements of psqlODBC's start in one message", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    const seen = await ask(
      client,
      "SET DateStyle='ISO';SET extra_float_digits=2;show transaction_isolation",
    );
    expect(letters(seen)).toBe("CCTDCZ");
    expect(cellsOf(seen[3] ?? none)).toEqual(["read committed"]);
    expect(tagOf(seen[4])).toBe("SHOW");
    expect(server.door.queries).toEqual([]);
  });

  it("shows instants in the session's zone", async () => {
    const columns = column("t", { kind: "timestamp", unit: "us", zoned: true });
    await using server = await served({ answers: { instant: resultOf(columns, [0n]) } });
    await using client = await RawClient.start(server.port, { TimeZone: "Asia/Tokyo" });
    const seen = await ask(client, "instant");
    expect(cellsOf(seen[2] ?? none)).toEqual(["1970-01-01 09:00:00+09"]);
  });

  it("passes notices on unless the client is spared, warnings with their SQLSTATE", async () => {
    const noisy = [
      { kind: "notice", code: "slow", text: "hello" },
      { kind: "notice", code: "noTransaction", text: "there is no transaction in progress" },
      doneOf("COMMIT"),
    ] as const;
    await using server = await served({ answers: { noisy } });
    await using client = await RawClient.start(server.port);
    const seen = await ask(client, "noisy");
    expect(letters(seen)).toBe("SNNCZ");
    expect(fieldsOf(seen[1] ?? none)).toMatchObject({ S: "NOTICE", C: "00000", M: "hello" });
    expect(fieldsOf(seen[2] ?? none)).toMatchObject({ S: "WARNING", C: "25P01" });
    expect(letters(await ask(client, "set client_min_messages = error; noisy"))).toBe("CSCZ");
  });

  it("writes rows before an error that comes in the middle of a result", async () => {
    const columns = column("n");
    const broken = [
      { kind: "columns", columns },
      { kind: "batch", batch: batchOf(columns, [[1n]]) },
      { kind: "failed", error: gatewayError("engine.broken") },
    ] as const;
    await using server = await served({ answers: { broken } });
    await using client = await RawClient.start(server.port);
    const seen = await ask(client, "broken");
    expect(letters(seen)).toBe("STDEZ");
    expect(errorOf(seen[3])).toMatchObject({
      C: "58030",
      D: `Query id: ${server.door.queries[0]?.id}`,
    });
  });

  it("never shows a result as complete whose stream just ended", async () => {
    const cut = resultOf(column("n"), [1n]).slice(0, 2);
    await using server = await served({ answers: { cut } });
    await using client = await RawClient.start(server.port);
    expect(letters(await ask(client, "cut"))).toBe("STDEZ");
  });

  it("ends the connection behind an error after which the client must connect anew", async () => {
    const draining = [{ kind: "failed", error: gatewayError("gateway.draining") }] as const;
    await using server = await served({ answers: { draining } });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("draining; select 1"));
    const seen = await client.rest();
    expect(letters(seen)).toBe("SE");
    expect(errorOf(seen[1])).toMatchObject({ S: "FATAL", C: "57P01" });
  });

  it("ends a statement that takes longer than the client's statement_timeout", async () => {
    const slow = async function* (_: unknown, signal: AbortSignal) {
      await aborted(signal);
      yield { kind: "failed", error: gatewayError("query.cancelled") } as const;
    };
    await using server = await served({ answers: { slow } });
    await using client = await RawClient.start(server.port, { statement_timeout: "5s" });
    client.send(queryOf("slow"));
    await eventually(() => server.door.queries.length === 1);
    await server.host.advance(5001);
    const seen = await client.until("Z");
    expect(errorOf(seen.at(-2))).toMatchObject({
      C: "57014",
      M: "canceling statement due to statement timeout",
    });
  });

  it("writes a large result whole and in order", async () => {
    const columns = [columnOf("n", int32), columnOf("t", text)];
    const many = async function* () {
      await Promise.resolve();
      yield { kind: "columns", columns } as const;
      for (let part = 0; part < 30; part += 1) {
        const rows = Array.from({ length: 1000 }, (_, row) => [
          BigInt(part * 1000 + row),
          "x".repeat(row % 50),
        ]);
        yield { kind: "batch", batch: batchOf(columns, rows) } as const;
      }
      yield doneOf();
    };
    await using server = await served({ answers: { many } });
    await using client = await RawClient.start(server.port);
    const rows = (await ask(client, "many")).filter(({ type }) => type === "D");
    expect(rows.length).toBe(30_000);
    expect(rows.every((row, index) => cellsOf(row)[0] === String(index))).toBe(true);
  });
});

describe("transactions", () => {
  it("follows the pin that the door brings, in status and session, until it is gone", async () => {
    const pin = pinOf();
    const script = {
      ...answers,
      begin: [
        { kind: "session", change: { kind: "pinned", modes: noModes, pin } },
        doneOf("BEGIN"),
      ] as const,
      commit: [
        { kind: "session", change: { kind: "unpinned", outcome: "committed" } },
        doneOf("COMMIT"),
      ] as const,
    };
    await using server = await served({ answers: script });
    await using client = await RawClient.start(server.port);
    expect(statusAfter(await ask(client, "begin"))).toBe("T");
    expect(statusAfter(await ask(client, "select 1"))).toBe("T");
    expect(server.door.queries[1]?.session.pin).toBe(pin);
    pin.state = "aborted";
    const refused = await ask(client, "show timezone");
    expect(errorOf(refused[0])).toMatchObject({ C: "25P02" });
    expect(statusAfter(refused)).toBe("E");
    expect(statusAfter(await ask(client, "commit"))).toBe("I");
    expect(pin.ended).toBe(0);
  });

  it("gives a transaction back when its client leaves", async () => {
    const pin = pinOf();
    const begin = [
      { kind: "session", change: { kind: "pinned", modes: noModes, pin } },
      doneOf("BEGIN"),
    ] as const;
    await using server = await served({ answers: { begin } });
    await using client = await RawClient.start(server.port);
    await ask(client, "begin");
    client.destroy();
    await eventually(() => pin.ended > 0);
    expect(pin.ended).toBe(1);
  });

  it("undoes SET when the end of a transaction fails", async () => {
    const begun = [
      { kind: "session", change: { kind: "pinned", modes: noModes, pin: pinOf() } },
      doneOf("BEGIN"),
    ] as const;
    const lost = [
      { kind: "session", change: { kind: "unpinned", outcome: "rolledBack" } },
      { kind: "failed", error: gatewayError("query.conflict") },
    ] as const;
    await using server = await served({ answers: { begin: begun, commit: lost } });
    await using client = await RawClient.start(server.port);
    await ask(client, "begin; set application_name = 'inside'");
    expect(statusAfter(await ask(client, "commit"))).toBe("I");
    const shown = await ask(client, "show application_name");
    expect(cellsOf(shown[1] ?? none)).toEqual([""]);
  });

  it("undoes SET by ROLLBACK and tells the client", async () => {
    const script = {
      begin: [
        { kind: "session", change: { kind: "pinned", modes: noModes, pin: pinOf() } },
        doneOf("BEGIN"),
      ] as const,
      rollback: [
        { kind: "session", change: { kind: "unpinned", outcome: "rolledBack" } },
        doneOf("ROLLBACK"),
      ] as const,
    };
    await using server = await served({ answers: script });
    await using client = await RawClient.start(server.port);
    await ask(client, "begin; set timezone = 'Asia/Tokyo'");
    const seen = await ask(client, "rollback");
    const statuses = seen.filter(({ type }) => type === "S").map(statusOf);
    expect(statuses).toContainEqual(["TimeZone", "UTC"]);
  });
});

const none: Seen = { type: "", body: Buffer.alloc(2) };

async function ask(client: RawClient, sql: string): Promise<readonly Seen[]> {
  client.send(queryOf(sql));
  return await client.until("Z");
}

function tagOf(message: Seen | undefined): string {
  return message?.body.toString("utf8").slice(0, -1) ?? "";
}

function statusAfter(seen: readonly Seen[]): string {
  return seen.at(-1)?.body.toString() ?? "";
}

function errorOf(message: Seen | undefined): Readonly<Record<string, string>> {
  expect(message?.type).toBe("E");
  return message === undefined ? {} : fieldsOf(message);
}
