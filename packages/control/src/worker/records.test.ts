import { gzipSync } from "node:zlib";
import type { QueryRecord, RecordBatchResponse } from "@gateway/contract/record.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { memoryStore } from "../store/memory.ts";
import type { Store } from "../store/store.ts";
import { testControl, type TestControl } from "./rig/control.ts";

const instanceId = "instance-00000001";

describe("POST /worker/query-records", () => {
  it("keeps a batch under the name that the instance registered", async () => {
    const { control, send } = await worker();
    const records = [recordOf("q1"), recordOf("q2", { worker: "a" })];
    expect(await answerOf(await send(records))).toEqual({
      accepted: 2,
      duplicates: 0,
      rejected: [],
    });
    expect(await keptOf(control, "q1")).toEqual({ ...recordOf("q1"), worker: "a" });
    expect(await keptOf(control, "q2")).toMatchObject({ worker: "a" });
  });

  it("takes a compressed batch of two hundred, and not one record more", async () => {
    const { send } = await worker();
    const records = Array.from({ length: 201 }, (_, index) => recordOf(`q${index}`));
    const zipped = await send(records.slice(1), { gzip: true });
    expect(await answerOf(zipped)).toMatchObject({ accepted: 200 });
    expect((await send(records)).status).toBe(422);
  });

  it("takes a batch twice without keeping it twice", async () => {
    const { control, send } = await worker();
    await send([recordOf("q1"), recordOf("q2")]);
    const again = await answerOf(await send([recordOf("q2"), recordOf("q1"), recordOf("q3")]));
    expect(again).toEqual({ accepted: 1, duplicates: 2, rejected: [] });
    expect(control.host.metrics.value("gateway_query_record_conflicts_total", {})).toBe(0);
  });

  it("keeps the first of two different records, and raises metric and log for the second", async () => {
    const { control, send } = await worker();
    await send([recordOf("q1"), recordOf("q2")]);
    const changed = [recordOf("q1", { user: "eve" }), recordOf("q2", { user: "eve" })];
    expect(await answerOf(await send([...changed, recordOf("q3")]))).toEqual({
      accepted: 1,
      duplicates: 2,
      rejected: [],
    });
    expect(await keptOf(control, "q1")).toMatchObject({ user: "ann" });
    expect(control.host.metrics.value("gateway_query_record_conflicts_total", {})).toBe(2);
    const lines = control.host.log.lines.filter(({ event }) => event === "records.conflict");
    expect(lines.map(({ fields }) => fields)).toEqual([{ worker: "a", count: 2, first: "q1" }]);
  });

  it("refuses a record under another worker's name without the others of its batch", async () => {
    const { control, send } = await worker();
    const records = [recordOf("q1"), recordOf("q2", { worker: "somebody" }), recordOf("q3")];
    expect(await answerOf(await send(records))).toEqual({
      accepted: 2,
      duplicates: 0,
      rejected: [{ index: 1, error: "worker: not the name this instance registered" }],
    });
    expect(await keptOf(control, "q2")).toBeUndefined();
  });

  it("refuses a batch in another worker's name", async () => {
    const { send } = await worker();
    expect((await send([recordOf("q1")], { batch: { worker: "b" } })).status).toBe(403);
  });

  it("judges each record alone, and tells field and reason but no content", async () => {
    const { send } = await worker();
    const secret = "hunter2";
    const records = [
      { ...recordOf("q1"), status: secret },
      { ...recordOf("q2"), tags: { [secret]: 7 } },
      { ...recordOf("q3"), [secret]: true },
      recordOf("q4"),
      null,
      secret,
    ];
    const answer = await send(records);
    const text = await answer.text();
    expect(text).not.toContain(secret);
    expect(JSON.parse(text)).toEqual({
      accepted: 1,
      duplicates: 0,
      rejected: [
        { index: 0, error: "status: invalid_value" },
        { index: 1, error: "tags: invalid_type" },
        { index: 2, error: "record: unrecognized_keys" },
        { index: 4, error: "record: invalid_type" },
        { index: 5, error: "record: invalid_type" },
      ],
    });
  });

  it("keeps a statement with characters that no database holds, with replacements", async () => {
    const { control, send } = await worker();
    const odd = recordOf("q1", { sql: "select '\0', '\ud800'", tags: { "\udc00": "\0" } });
    expect(await answerOf(await send([odd]))).toMatchObject({ accepted: 1, rejected: [] });
    expect(await answerOf(await send([odd]))).toMatchObject({ duplicates: 1 });
    expect(await keptOf(control, "q1")).toMatchObject({ sql: "select '\ufffd', '\ufffd'" });
  });

  it("asks to keep a format it does not know, and says which it knows", async () => {
    const { send } = await worker();
    const answer = await send([], { batch: { schemaVersion: 2, records: "in another form" } });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: "schemaVersion", supported: [1] });
  });

  it("takes records from a registered instance with its token only", async () => {
    const { send, token } = await worker();
    for (const name of Object.keys(token)) {
      const without = Object.entries(token).filter(([other]) => other !== name);
      for (const headers of [Object.fromEntries(without), { ...token, [name]: "x" }]) {
        expect((await send([recordOf("q1")], { headers })).status).toBe(403);
      }
    }
  });

  it("acknowledges nothing while the database is gone", async () => {
    const { control, send } = await worker();
    control.cut(true);
    const answer = await send([recordOf("q1")]);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
    control.cut(false);
    expect(await keptOf(control, "q1")).toBeUndefined();
    expect(await answerOf(await send([recordOf("q1")]))).toMatchObject({ accepted: 1 });
  });

  it("holds no more than 64 batches in memory, and tells the others to come again", async () => {
    const store = memoryStore(virtualHost(1).clock);
    let answer = () => {};
    const stored = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const ingest: typeof store.records.ingest = async (batch, nowMs) => {
      await stored;
      return store.records.ingest(batch, nowMs);
    };
    const { send } = await worker({ ...store, records: { ...store.records, ingest } });
    const held = Array.from({ length: 64 }, (_, index) => send([recordOf(`q${index}`)]));
    const refused = await send([recordOf("q64")]);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    answer();
    const statuses = await Promise.all(held.map(async (one) => (await one).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await send([recordOf("q64")])).status).toBe(200);
  });

  it("reads no body that is too large, sent or inflated", async () => {
    const { control, send, token } = await worker();
    const headers = { ...token, "content-length": String(17 * 1024 * 1024) };
    const call = { method: "POST", headers, body: "{}" };
    expect((await control.call("/query-records", call)).status).toBe(413);
    const large = recordOf("q1", { sql: "x".repeat(17 * 1024 * 1024) });
    expect((await send([large], { gzip: true })).status).toBe(413);
  });
});

interface Sent {
  readonly gzip?: boolean;
  readonly batch?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A registered worker and a way to send records as it. */
async function worker(store?: Store) {
  const control = await testControl(store === undefined ? {} : { store });
  const token = await control.register("a", instanceId);
  const send = (records: readonly unknown[], sent: Sent = {}) => {
    const json = JSON.stringify({ schemaVersion: 1, worker: "a", records, ...sent.batch });
    const headers = sent.headers ?? token;
    const method = "POST";
    if (sent.gzip !== true) {
      return control.call("/query-records", { method, headers, body: json });
    }
    return control.call("/query-records", {
      method,
      headers: { ...headers, "content-encoding": "gzip" },
      body: new Uint8Array(gzipSync(json)),
    });
  };
  return { control, send, token };
}

function recordOf(proxyQueryId: string, more: Partial<QueryRecord> = {}): QueryRecord {
  return {
    proxyQueryId,
    createdAt: 1_767_225_600_000,
    finishedAt: 1_767_225_600_010,
    frontend: "trinoHttp",
    user: "ann",
    clientAddress: "192.0.2.7",
    tags: { team: "a" },
    sql: "select 1",
    sourceDialect: "trino",
    status: "finished",
    rowsReturned: 1,
    bytesReturned: 4,
    queueMs: 0,
    executionMs: 9.5,
    routingTrace: [{ step: "fallback", outcome: "group a" }],
    policyActions: [],
    engineStats: { rows: 1 },
    revision: "1.1.sha256:0",
    ...more,
  };
}

async function answerOf(answer: Response): Promise<RecordBatchResponse> {
  expect(answer.status).toBe(200);
  return (await answer.json()) as RecordBatchResponse;
}

async function keptOf(control: TestControl, id: string): Promise<QueryRecord | undefined> {
  const kept = await control.deps.store.records.get(id);
  return kept.ok ? kept.value : undefined;
}
