import type { Backend } from "@gateway/core/port/backend.ts";
import type { Asked } from "@gateway/core/query/asked.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeTrino, type FakeTrino } from "../../../../../test/fake/trino.ts";
import { hostOf, identifiedOf, never, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { trinoConfig } from "../config.ts";

let fake: FakeTrino;
let backend: Backend;
beforeEach(async () => {
  fake = await fakeTrino();
  const config = trinoConfig.parse({ engine: "trino", endpoint: fake.origin });
  backend = valueOf(await open("asked", config, hostOf()));
});
afterEach(async () => {
  await backend[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const columns = '"columns":[{"name":"n","type":"bigint","typeSignature":{"rawType":"bigint"}}]';

describe("a statement of Trino's that is sent at once", () => {
  it("comes whole where its rows come with its end", async () => {
    pollsAnswer(`${columns},"data":[[1],[2]],"stats":{}`);
    const { whole } = await answered("select 1");
    expect(whole).toMatchObject({
      kind: "done",
      stats: { rows: 2 },
      whole: { columns: { columns: [{ name: "n" }] }, batch: { rows: 2 } },
    });
  });

  it("comes whole without rows, and without a result", async () => {
    pollsAnswer(`${columns},"stats":{}`);
    const { whole } = await answered("select 1");
    expect(whole?.whole).toMatchObject({ batch: undefined });
    pollsAnswer('"updateType":"INSERT","updateCount":3,"stats":{}', "q2");
    const changed = await answered("insert");
    expect(changed.whole).toMatchObject({ updateType: "INSERT", updateCount: 3 });
    expect(changed.whole?.whole).toBeUndefined();
  });

  it("goes on as a course behind the first rows, with each of them once", async () => {
    const pages = ["[[1]]", "[[2],[3]]"];
    fake.answers.set("select two", () => ({
      columns: [["n", "bigint"]],
      pages: pages[Symbol.iterator](),
    }));
    const { whole, asked } = await answered("select two");
    expect(whole).toBeUndefined();
    const events = await eventsOf(asked);
    expect(events.map(({ kind }) => kind)).toEqual(["columns", "batch", "batch", "done"]);
    expect(events.at(-1)).toMatchObject({ stats: { rows: 3 } });
  });

  it.each([
    ["an error", '"error":{"message":"no","errorName":"SYNTAX_ERROR"},"stats":{}', "query.syntax"],
    ["rows that can not be read", `${columns},"data":[[1],"stats":{}`, "engine.broken"],
    ["an answer that is none", "", "engine.broken"],
  ])("fails as a course with %s", async (_, text, code) => {
    pollsAnswer(text);
    const { whole, asked } = await answered("select 1");
    expect(whole).toBeUndefined();
    expect((await eventsOf(asked)).at(-1)).toMatchObject({ kind: "failed", error: { code } });
  });

  it("is ended in the engine when it is aborted", async () => {
    const canceller = new Canceller();
    const asked = backend.ask?.(identifiedOf("select * from flood"), canceller.signal);
    if (asked === undefined) throw new Error("not sent");
    const came = new Promise<void>((resolve) => asked.wait({ came: resolve }));
    canceller.abort();
    await came;
    expect(asked.whole()).toBeUndefined();
    expect((await eventsOf(asked)).at(-1)).toMatchObject({ error: { code: "query.cancelled" } });
    expect(fake.running()).toBe(0);
  });

  it("is told of a pool that is closed, and not sent behind that", async () => {
    const query = identifiedOf("select 1");
    await fake[Symbol.asyncDispose]();
    const { whole, asked } = await answered("select 1");
    expect(whole).toBeUndefined();
    const failed = { kind: "failed", error: { code: "cluster.connectFailed" } };
    expect(await eventsOf(asked)).toMatchObject([failed]);
    await backend[Symbol.asyncDispose]();
    expect(backend.ask?.(query, never)).toBeUndefined();
    fake = await fakeTrino();
  });
});

/** Every poll of the query is answered by this, without a next one. */
function pollsAnswer(text: string, id = "q1"): void {
  const bytes = text === "" ? text : `{"id":"${id}",${text},"warnings":[]}`;
  fake.fault = ({ method }) => (method === "GET" ? { kind: "bytes", bytes } : undefined);
}

async function answered(sql: string) {
  const asked = backend.ask?.(identifiedOf(sql), never);
  if (asked === undefined) throw new Error("not sent");
  await new Promise<void>((resolve) => asked.wait({ came: resolve }));
  return { asked, whole: asked.whole() };
}

async function eventsOf(asked: Asked): Promise<readonly ResultEvent[]> {
  const events: ResultEvent[] = [];
  for await (const event of streamOf(asked.course())) events.push(event);
  return events;
}
