import type { Answer } from "@gateway/core/query/course.ts";
import type { DoneEvent, ResultEvent } from "@gateway/core/query/event.ts";
import { charsetOf } from "@gateway/wire/postgres/charset/charset.ts";
import { describe, expect, it } from "vitest";
import { Outbox } from "../../outbox.ts";
import { passOn } from "./passOn.ts";
import type { ExecutionPlan, Step } from "./step.ts";

const columns = { kind: "columns", columns: [] } as const;
const rows = { form: "native", format: "postgresRows", rows: 2, bytes: new Uint8Array(8) } as const;
const batch: ResultEvent = { kind: "batch", batch: rows };
const notice: ResultEvent = { kind: "notice", code: "00000", text: "so" };
const written = new TextEncoder().encode("as the server wrote it");
const done: DoneEvent = {
  kind: "done",
  stats: { queueMs: 0, executionMs: 0, rows: 2, bytes: 8 },
  commandTag: "SELECT 2",
  whole: { columns, batch: rows, written },
};
const all: Answer = [columns, batch, done];
const start = (): never => {
  throw new Error("it began before");
};
const plan: ExecutionPlan = {
  sql: "select",
  queryId: "q",
  formats: [],
  promised: undefined,
  copy: undefined,
  start,
};
const wish: Step = { maxRows: 0, announce: "rows" };

describe("passOn", () => {
  it("sends what the server wrote, with its tag, and tells how many rows those were", () => {
    const { sent, stop } = passed({});
    expect(stop).toEqual({ kind: "complete", rows: 2, tag: "SELECT 2", told: true });
    expect(sent).toBe("as the server wrote it");
  });

  it("passes a result without rows on", () => {
    const none: DoneEvent = { ...done, whole: { columns, batch: undefined, written } };
    expect(passed({ answer: [columns, none] }).stop).toMatchObject({ rows: 0, told: true });
  });

  it.each<readonly [string, Parameters<typeof passed>[0]]>([
    ["another engine's", { answer: [columns, batch, { ...done, whole: undefined }] }],
    ["with a notice", { answer: [notice, columns, batch, done] }],
    ["that failed", { answer: [{ kind: "failed", error: { code: "x" } } as never] }],
    ["of a client in another encoding", { charset: "LATIN1" }],
    ["in a format that was asked for", { plan: { ...plan, formats: [1] } }],
    ["that was described before", { plan: { ...plan, promised: [] } }],
    ["of which some rows are wanted", { wish: { ...wish, maxRows: 1 } }],
    ["that is not to be described", { wish: { ...wish, announce: "no" } }],
    ["that is passed over", { wish: { ...wish, silent: true } }],
    ["longer than a write", { answer: longAnswer() }],
  ])("leaves a result %s to be looked at", (_, given) => {
    expect(passed(given)).toEqual({ sent: "", stop: undefined });
  });
});

function longAnswer(): Answer {
  const long = { ...done, whole: { columns, batch: rows, written: new Uint8Array(64 * 1024) } };
  return [columns, batch, long];
}

function passed(given: {
  readonly answer?: Answer;
  readonly plan?: ExecutionPlan;
  readonly wish?: Step;
  readonly charset?: string;
}) {
  let sent = "";
  const out = new Outbox((bytes) => {
    sent += new TextDecoder().decode(bytes);
    return undefined;
  });
  const charset = given.charset === undefined ? undefined : charsetOf(given.charset);
  const client = { session: { charset }, out };
  const stop = passOn(given.answer ?? all, given.plan ?? plan, given.wish ?? wish, client);
  void out.flush();
  return { sent, stop };
}
