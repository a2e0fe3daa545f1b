/** An answer that is there at once is told as the same answer in pieces is. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Asked } from "@gateway/core/query/asked.ts";
import { answerOf, eventsOf, type Answer } from "@gateway/core/query/course.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { postgresqlConfig } from "./config.ts";
import { message, ScriptedPostgres } from "./rig/scripted.ts";

const columns = message("T", [
  ...Buffer.from("00016e0000000000000000000019ffffffffffff0000", "hex"),
]);
const row = message("D", [0, 1, 0, 0, 0, 1, 0x31]);
const done = message("C", [...Buffer.from("SELECT 2\0")]);
const ready = message("Z", [0x49]);
const notice = message("N", [...Buffer.from("SNOTICE\0C00000\0Mwell\0\0")]);
const error = message("E", [...Buffer.from("SERROR\0VERROR\0C22012\0Mdivision by zero\0\0")]);

/** How many came with their end. */
let wholes = 0;

describe("an answer that is there at once", () => {
  it.each([
    ["rows", [columns, row, row, done, ready]],
    ["no rows", [columns, done, ready]],
    ["no columns", [message("C", [...Buffer.from("INSERT 0 1\0")]), ready]],
    ["a notice between", [columns, row, notice, row, done, ready]],
    ["an error", [error, ready]],
    ["an error behind a row", [columns, row, error, ready]],
    ["an empty query", [message("I"), ready]],
  ] as const)("with %s is told as one in pieces", async (_what, messages) => {
    wholes = 0;
    const whole = await told([Buffer.concat(messages)], true);
    const isWhole = messages[0] === columns && messages.at(-2) === done && !hasNotice(messages);
    expect(wholes).toBe(isWhole ? 1 : 0);
    expect(whole).toEqual(await told(messages, false));
    expect(whole.at(-1)).toHaveProperty("kind", expect.stringMatching(/^(?:done|failed)$/));
    // A server that says it in pieces is asked in the same way.
    const bytes = Buffer.concat(messages);
    const half = bytes.length >> 1;
    expect(await told([bytes.subarray(0, half), bytes.subarray(half)], true)).toEqual(whole);
    // So is one whose statement was sent at once, with the first bytes of its answer or all of them.
    wholes = 0;
    expect(await told([bytes], "at once")).toEqual(whole);
    expect(wholes).toBe(isWhole ? 1 : 0);
    expect(await told([bytes.subarray(0, half), bytes.subarray(half)], "at once")).toEqual(whole);
  });

  it("is left to the reader where more comes behind it, which is a lie", async () => {
    const events = await told([Buffer.concat([columns, row, done, ready, ready])], true);
    expect(events.at(-1)).toMatchObject({ shownRows: Buffer.from(row).toString("hex") });
  });
});

describe("a statement that is sent at once", () => {
  it("has its connection for itself until its answer is taken, whole or as a course", async () => {
    await using server = await ScriptedPostgres.start(() => [
      Buffer.concat([columns, row, done, ready]),
    ]);
    await using backend = await backendAt(server.port);
    expect(backend.ask?.(queryOf("select 1"), never)).toBeUndefined();
    await eventsIn(await answerOf(courseIn(backend)(queryOf("select 1"), never, true)));
    const first = asked(backend);
    expect(backend.ask?.(queryOf("select 1"), never)).toBeUndefined();
    await here(first);
    expect(first.whole()).toMatchObject({ kind: "done", commandTag: "SELECT 2" });
    const second = asked(backend);
    await eventsIn(await answerOf(second.course()));
    expect(asked(backend)).toBeDefined();
    expect(server.logins).toBe(1);
  });

  it("fails where the connection ends before its answer, and is not sent again", async () => {
    let texts = 0;
    await using server = await ScriptedPostgres.start(({ letter, text }) => {
      if (letter !== "Q" || !text.includes("select n")) return [done, ready];
      texts += 1;
      return "close";
    });
    await using backend = await backendAt(server.port);
    await eventsIn(await answerOf(courseIn(backend)(queryOf("select 1"), never, true)));
    const sent = asked(backend);
    await here(sent);
    expect(sent.whole()).toBeUndefined();
    const events = await eventsIn(await answerOf(sent.course()));
    expect(events.at(-1)).toMatchObject({ kind: "failed", error: { code: "engine.broken" } });
    expect(texts).toBe(1);
  });

  it("is none that is another's than the cluster's own account", async () => {
    await using server = await ScriptedPostgres.start(() => [done, ready]);
    await using backend = await backendAt(server.port);
    await eventsIn(await answerOf(courseIn(backend)(queryOf("select 1"), never, true)));
    const backendIdentity = { mode: "impersonate", principal: "alice" } as const;
    expect(backend.ask?.({ ...queryOf("select 1"), backendIdentity }, never)).toBeUndefined();
  });
});

function hasNotice(messages: readonly Uint8Array[]): boolean {
  return messages.includes(notice);
}

/** What a client is told; how long it took is left out. */
async function told(
  pieces: readonly Uint8Array[],
  how: boolean | "at once",
): Promise<readonly object[]> {
  await using server = await ScriptedPostgres.start(({ letter, text }) => {
    if (letter !== "Q" || text.includes("select n")) return letter === "Q" ? pieces : [ready];
    return [message("C", [...Buffer.from("SET\0")]), ready];
  });
  await using backend = await backendAt(server.port);
  return how === "at once"
    ? await shown(await eventsAtOnce(backend))
    : await shown(await answerOf(courseIn(backend)(queryOf("select n from t"), never, how)));
}

async function eventsAtOnce(backend: Backend): Promise<Answer> {
  await eventsIn(await answerOf(courseIn(backend)(queryOf("select 1"), never, true)));
  const sent = asked(backend);
  await here(sent);
  const whole = sent.whole();
  return whole === undefined ? await answerOf(sent.course()) : eventsOf(whole);
}

async function shown(answer: Answer): Promise<readonly object[]> {
  const events: object[] = [];
  let rows = "";
  for (const event of await eventsIn(answer)) {
    // How many pieces they come in is the network's to say.
    if (event.kind === "batch") rows += shownRows(event.batch);
    else if (event.kind !== "done") events.push(event);
    else {
      const { stats, whole: came, ...rest } = event;
      if (came !== undefined) wholes += 1;
      events.push({ ...rest, stats: { ...stats, executionMs: 0 }, shownRows: rows });
    }
  }
  return events;
}

async function eventsIn(answer: Answer): Promise<readonly ResultEvent[]> {
  const events: ResultEvent[] = [];
  for await (const event of answer as AsyncIterable<ResultEvent> | Iterable<ResultEvent>)
    events.push(event);
  return events;
}

async function backendAt(port: number): Promise<Backend> {
  const config = postgresqlConfig.parse({
    engine: "postgresql",
    hosts: [`127.0.0.1:${port}`],
    auth: { type: "basic", username: "gateway", password: "secret" },
    poolSize: 1,
  });
  return valueOf(await open("main", config, hostOf()));
}

function courseIn(backend: Backend): NonNullable<Backend["course"]> {
  if (backend.course === undefined) throw new Error("the engine has courses");
  return backend.course.bind(backend);
}

function asked(backend: Backend, signal: AbortSignal = never): Asked {
  const sent = backend.ask?.(queryOf("select n from t"), signal);
  if (sent === undefined) throw new Error("it was not sent");
  return sent;
}

/** Something of its answer is here. */
async function here(sent: Asked): Promise<void> {
  await new Promise<void>((came) => sent.wait({ came }));
}

function shownRows(batch: Extract<ResultEvent, { kind: "batch" }>["batch"]): string {
  if (batch.form !== "native") throw new Error("rows are passed on as they came");
  return Buffer.from(batch.bytes).toString("hex");
}

function queryOf(text: string): Identified {
  const query = identifiedOf(text, [], { dialect: "postgres", frontend: "postgresWire" });
  const call = { types: [], formats: [], values: [], resultFormats: [], simple: true };
  return { ...query, call, takes: ["postgresRows"] };
}
