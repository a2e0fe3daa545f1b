import { overviewSchema } from "@gateway/contract/studioApi.ts";
import type { QueryRecord } from "@gateway/contract/record.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { memoryStore } from "../../store/memory.ts";
import type { RecordStore } from "../../store/store.ts";
import { answered, incomingOf, recordOf } from "../../store/rig/samples.ts";
import { fileOf, testAdmin, type TestAdmin } from "../rig/admin.ts";

describe("the overview", () => {
  it("says by minutes what came, how long it took and what ran at a time, against the caps of today", async () => {
    const admin = await testAdmin({ file: fileOf });
    const minute = Math.floor(admin.host.clock.unixMs() / 60_000) * 60_000;
    const at = minute - 30 * 60_000;
    await keep(
      admin,
      Array.from({ length: 60 }, (_, index) =>
        recordOf(`q${index}`, { createdAt: at + index, queueMs: 500, executionMs: 1_000 }),
      ),
    );
    await keep(admin, [recordOf("bad", { createdAt: at, status: "failed", errorCode: "x.y" })]);
    const overview = await overviewOf(admin, "hour");
    expect(overview.points).toHaveLength(60);
    expect(overview.cap).toBe(4);
    expect(overview.to - overview.from).toBe(3_600_000);
    expect(overview.errors).toEqual([{ code: "x.y", count: 1 }]);
    const point = overview.points.find((one) => one.at === at);
    expect(point).toMatchObject({
      statuses: { finished: 60, failed: 1, cancelled: 0, denied: 0 },
      sampled: false,
      latency: { p50: 1_500 },
    });
    expect(point?.runningMean).toBeCloseTo(1, 1);
    expect(point?.perSecond).toBeCloseTo(61 / 60);
    const day = await overviewOf(admin, "day");
    expect(day.points).toHaveLength(96);
    expect(day.points.reduce((sum, { statuses }) => sum + statuses.finished, 0)).toBe(60);
  });

  it("shows new records soon, asks for steps that are over only now and then, and moves with time", async () => {
    const asked: number[] = [];
    const memory = memoryStore(virtualHost(1).clock);
    const records: RecordStore = {
      ...memory.records,
      series: (request) => {
        asked.push(request.steps);
        return memory.records.series(request);
      },
    };
    const admin = await testAdmin({ file: fileOf, store: { ...memory, records } });
    const total = async () => {
      const { points } = await overviewOf(admin, "hour");
      return points.reduce((sum, { statuses }) => sum + statuses.finished, 0);
    };
    expect(await total()).toBe(0);
    await keep(admin, [recordOf("new", { createdAt: admin.host.clock.unixMs() })]);
    expect(await total()).toBe(0);
    await admin.host.advance(6_000);
    expect(await total()).toBe(1);
    expect(asked).toEqual([60, 2]);
    await admin.host.advance(60_000);
    expect(await total()).toBe(1);
    expect(asked.at(-1)).toBeLessThanOrEqual(60);
    await admin.host.advance(3_600_000);
    expect(await total()).toBe(0);
  });
});

describe("the export", () => {
  it("is a table that no spreadsheet takes for formulas, page by page, with texts for operators", async () => {
    const admin = await testAdmin({ file: fileOf });
    const at = admin.host.clock.unixMs();
    const nasty = ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\u200b=1", "|x", 'a "b", c\r\nd'];
    await keep(
      admin,
      nasty.map((user, index) => recordOf(`q${index}`, { createdAt: at + index, user, sql: user })),
    );
    await keep(
      admin,
      Array.from({ length: 600 }, (_, index) => recordOf(`r${index}`, { createdAt: at - 1 })),
    );
    const response = await admin.ask("GET", "/admin/query-export", { as: "operator" });
    expect(response.headers.get("content-disposition")).toContain("queries.csv");
    const text = await response.text();
    const lines = text.split("\r\n").filter((line) => /^(id|q|r)\d*,/.test(line));
    expect(lines).toHaveLength(nasty.length + 601);
    for (const cell of text.split(/[,\r\n]+/)) expect(cell).not.toMatch(/^"?[\s\u200b]*[=+@|-]/);
    expect(text).toContain('"a ""b"", c\r\nd"');
    const viewers = await admin.ask("GET", "/admin/query-export?user=%3D1%2B1", { as: "viewer" });
    const shown = (await viewers.text()).trimEnd().split("\r\n");
    expect(shown).toHaveLength(2);
    expect(shown[0]).not.toContain("sql");
    const audit = await admin.json("GET", "/admin/audit?action=export");
    expect(audit.body).toMatchObject({ items: [{ by: "vera" }, { by: "otto" }] });
  });

  it("is refused as a whole while the database does not answer", async () => {
    const admin = await testAdmin({ file: fileOf });
    admin.cut(true);
    expect((await admin.ask("GET", "/admin/query-export")).status).toBe(503);
  });
});

describe("one query of the history", () => {
  it("has the stages of its life in order", async () => {
    const admin = await testAdmin({ file: fileOf });
    const times = { createdAt: 1_000, startedAt: 1_200, finishedAt: 1_900 };
    await keep(admin, [recordOf("q1", { ...times, queueMs: 200, executionMs: 700 })]);
    const { body } = await admin.json("GET", "/admin/queries/q1", { as: "viewer" });
    expect(body["timeline"]).toEqual([
      { stage: "received", at: 1_000, tookMs: 0 },
      { stage: "queued", at: 1_000, tookMs: 200 },
      { stage: "executed", at: 1_200, tookMs: 700 },
      { stage: "ended", at: 1_900, tookMs: 0 },
    ]);
  });
});

async function keep(admin: TestAdmin, records: readonly QueryRecord[]): Promise<void> {
  const batch = records.map((record) => incomingOf(record));
  await answered(admin.store.records.ingest(batch, admin.host.clock.unixMs()));
}

async function overviewOf(admin: TestAdmin, range: string) {
  const { body } = await admin.json("GET", `/admin/overview?range=${range}`, { as: "viewer" });
  return overviewSchema.parse(body);
}
