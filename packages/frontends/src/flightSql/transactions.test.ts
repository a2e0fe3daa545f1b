import { create } from "@bufbuild/protobuf";
import type { DoneEvent, Outcome, ResultEvent } from "@gateway/core/query/event.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import { afterEach, describe, expect, it } from "vitest";
import { answers } from "../rig/answers.ts";
import type { ScriptedAnswer } from "../rig/scriptedDoor.ts";
import * as sql from "./proto/FlightSql_pb.js";
import type { FlightClient } from "./rig/client.ts";
import { openFlight, refusalOf, type OpenFlight } from "./rig/open.ts";

const stats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 };
const done: DoneEvent = { kind: "done", stats };
const modes = {
  isolation: undefined,
  readOnly: undefined,
  deferrable: undefined,
  consistentSnapshot: false,
};

let open: OpenFlight;
afterEach(async () => {
  await open.done();
});

describe("a transaction", () => {
  it("runs its statements with its pin, and ends with COMMIT", async () => {
    const { client, pin } = await begun({ COMMIT: endOf("committed") });
    const id = await begin(client);
    expect(await client.update("INSERT INTO t VALUES (1)", id)).toBe(3n);
    await client.query("SELECT 1", id);
    await end(client, id, sql.ActionEndTransactionRequest_EndTransaction.COMMIT);
    const pins = open.door.queries.map(({ sql: text, session }) => [text, session.pin === pin]);
    expect(pins).toEqual([
      ["START TRANSACTION", false],
      ["INSERT INTO t VALUES (1)", true],
      ["SELECT 1", true],
      ["COMMIT", true],
    ]);
    expect(await refusalOf(client.query("SELECT 1", id))).toMatch(/^9 FAILED_PRECONDITION/);
  });

  it("that another user names, or nobody began, is not known", async () => {
    const { client } = await begun({});
    const id = await begin(client);
    const other = await open.client({ user: "bob" });
    const foreign = await refusalOf(other.update("INSERT INTO t VALUES (1)", id));
    expect(foreign).toMatch(/^9 FAILED_PRECONDITION/);
    const made = Buffer.from("0".repeat(32));
    expect(await refusalOf(client.update("INSERT INTO t VALUES (1)", made))).toBe(foreign);
  });

  it("that was rolled back in place of a commit says so", async () => {
    const { client } = await begun({ COMMIT: endOf("rolledBack") });
    const id = await begin(client);
    const ending = end(client, id, sql.ActionEndTransactionRequest_EndTransaction.COMMIT);
    expect(await refusalOf(ending)).toMatch(/rolled back/);
  });

  it("is refused where the engine has none, and nothing stays open", async () => {
    open = await openFlight({ answers: { "START TRANSACTION": [done] } });
    expect(await refusalOf(begin(await open.client()))).toMatch(/^12 UNIMPLEMENTED/);
  });
});

async function begun(more: Readonly<Record<string, ScriptedAnswer>>) {
  const pin: Pin = { cluster: "c", group: "g", state: "open", end: async () => undefined };
  const change = { kind: "pinned", pin, modes } as const;
  const began: readonly ResultEvent[] = [{ kind: "session", change }, done];
  open = await openFlight({ answers: { ...answers, "START TRANSACTION": began, ...more } });
  return { client: await open.client(), pin };
}

function endOf(outcome: Outcome): readonly ResultEvent[] {
  return [{ kind: "session", change: { kind: "unpinned", outcome } }, done];
}

async function begin(client: FlightClient): Promise<Uint8Array> {
  const request = create(sql.ActionBeginTransactionRequestSchema, {});
  const { transactionId } = await client.ask(
    "BeginTransaction",
    [sql.ActionBeginTransactionRequestSchema, request],
    sql.ActionBeginTransactionResultSchema,
  );
  return transactionId;
}

async function end(
  client: FlightClient,
  transactionId: Uint8Array,
  action: sql.ActionEndTransactionRequest_EndTransaction,
): Promise<void> {
  const request = create(sql.ActionEndTransactionRequestSchema, { transactionId, action });
  await client.ask(
    "EndTransaction",
    [sql.ActionEndTransactionRequestSchema, request],
    sql.ActionBeginTransactionResultSchema,
  );
}
