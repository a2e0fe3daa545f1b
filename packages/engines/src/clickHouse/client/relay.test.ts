/** What a client of ClickHouse's own HTTP interface is given, over a server whose bytes the test says. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { answerOf, eventsOf as wholeEvents, nextOf } from "@gateway/core/query/course.ts";
import type { Identified, Relay } from "@gateway/core/query/query.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { clickHouseConfig } from "../config.ts";
import { relayedAsk } from "./relayedAsk.ts";

type Answer = (response: ServerResponse) => void;

/** Bytes that no reader of blocks understands. */
const rows = Buffer.from([0xff, 0x00, 0x80, 0x0a]);
const relay: Relay = { fields: [], form: [], acceptEncoding: undefined, body: undefined };

describe.each([
  ["event by event", eventsInTurn],
  ["event by event, into memory that is written over", eventsWrittenOver],
  ["at once where it is all there", eventsAtOnce],
  ["behind a request that was sent at once", eventsOfAsked],
])("a relayed statement, read %s", (_, eventsOf) => {
  it("passes the bytes of its answer and the headers about them, and no other", async () => {
    const { backend, seen } = await backendOf((response) => {
      response.writeHead(200, {
        "X-ClickHouse-Format": "Parquet",
        "Content-Encoding": "br",
        "Set-Cookie": "a=b",
      });
      response.end(rows);
    });
    const asked = {
      ...relay,
      fields: [["max_threads", "2"]] as const,
      form: [["default_format", "Parquet"]] as const,
      acceptEncoding: "br",
    };
    const events = await eventsOf(backend, "select 1", asked);
    expect(headOf(events)).toEqual({ "x-clickhouse-format": "Parquet", "content-encoding": "br" });
    expect(bytesOf(events)).toEqual(rows);
    expect(events.at(-1)).toMatchObject({ kind: "done", stats: { bytes: 4 } });
    const [request] = seen;
    expect(request?.url).toContain("&max_threads=2&default_format=Parquet&");
    expect(request?.url).not.toContain("Native");
    expect(request?.headers["accept-encoding"]).toBe("br");
  });

  it("streams the rows of an INSERT as they are, with its text in the address", async () => {
    const { backend, seen } = await backendOf((response) => {
      response.setHeader("X-ClickHouse-Summary", '{"written_rows":"2"}');
      response.end();
    });
    const body = { bytes: piecesOf(rows, rows), encoding: "gzip", blocks: true };
    const events = await eventsOf(backend, "insert into t format Native", { ...relay, body });
    expect(events.at(-1)).toMatchObject({ kind: "done", updateCount: 2 });
    const [request] = seen;
    expect(request?.url).toContain("&query=insert%20into%20t%20format%20Native&decompress=1&");
    expect(request?.headers["content-encoding"]).toBe("gzip");
    expect(request?.body).toEqual(Buffer.concat([rows, rows]));
  });

  it("has failed when the server marks an exception behind the rows, in the server's words", async () => {
    const text = "Code: 395. DB::Exception: wrong. (FUNCTION_THROW_IF) (version 25.11)\n";
    const tag = "0123456789abcdef";
    const { backend } = await backendOf((response) => {
      response.writeHead(200, { "X-ClickHouse-Exception-Tag": tag });
      response.write(rows);
      response.write(
        `\r\n__exception__\r\n${tag}\r\n${text}${text.length} ${tag}\r\n__exception__\r\n`,
        () => response.destroy(),
      );
    });
    const events = await eventsOf(backend, "select 1", relay);
    expect(events.at(-1)).toMatchObject({
      kind: "failed",
      error: { vendor: { of: "clickHouse", code: 395, name: "FUNCTION_THROW_IF" } },
    });
  });

  it("does not take rows for an exception, and nothing that broke off for whole", async () => {
    const text = "Code: 395. DB::Exception: no. (X_Y_Z) (version 1)\n";
    const read = await backendOf((response) => response.end(text));
    expect((await eventsOf(read.backend, "select 1", relay)).at(-1)).toMatchObject({
      kind: "done",
    });
    const cut = await backendOf((response) => response.write(rows, () => response.destroy()));
    const broken = (await eventsOf(cut.backend, "select 1", relay)).at(-1);
    expect(broken).toMatchObject({ kind: "failed", error: { code: "engine.broken" } });
    expect(broken).not.toHaveProperty("error.vendor");
  });
});

describe("a relayed statement", () => {
  const eventsOf = eventsInTurn;

  it("tells the server's log the client's tags, unless the client said what stands there", async () => {
    const { backend, seen } = await backendOf((response) => response.end());
    const tags = new Map([
      ["team", "data"],
      ["job", "a b"],
    ]);
    const asked = async (fields: Relay["fields"]) => {
      const query = {
        ...identifiedOf("select 1", [], { tags }),
        relay: { ...relay, fields },
        takes: ["clickHouseBody"] as const,
      };
      for await (const _event of backend.execute(query, never));
      return new URL(seen.at(-1)?.url ?? "", "http://server").searchParams.getAll("log_comment");
    };
    expect(await asked([])).toEqual(["team=data,job=a%20b"]);
    expect(await asked([["log_comment", "mine"]])).toEqual(["mine"]);
  });

  it("never changes a setting of the cluster, nor a field that is the gateway's", async () => {
    const { backend, seen } = await backendOf((response) => response.end());
    for (const field of [
      ["readonly", "0"],
      ["query_id", "x"],
      ["role", "admin"],
    ] as const) {
      const [failed] = await eventsOf(backend, "select 1", { ...relay, fields: [field] });
      expect(failed).toMatchObject({
        kind: "failed",
        error: { code: "query.permission", vendor: { code: 452 } },
      });
    }
    const same = await eventsOf(backend, "select 1", { ...relay, fields: [["readonly", "2"]] });
    expect(same.at(-1)).toMatchObject({ kind: "done" });
    expect(seen).toHaveLength(1);
  });

  it("takes no setting beside the text of a user that it impersonates", () => {
    const asked = { relay: { ...relay, fields: [["max_threads", "2"]] as const }, takes: [] };
    const user = { kind: "user", name: "ann", group: "g" } as const;
    const config = { settings: {} };
    expect(relayedAsk(asked, config, user)).toMatchObject({ error: { code: "query.permission" } });
    expect(relayedAsk(asked, config, { kind: "account" }).ok).toBe(true);
    const named = { relay: { ...relay, fields: [["param_n", "2"]] as const }, takes: [] };
    expect(relayedAsk(named, config, user).ok).toBe(true);
  });

  it("says in one event what came with its end, and an exception in its place", async () => {
    const tag = "0123456789abcdef";
    const text = "Code: 395. DB::Exception: no. (X_Y_Z) (version 1)\n";
    const marked = `\r\n__exception__\r\n${tag}\r\n${text}${text.length} ${tag}\r\n__exception__\r\n`;
    let body: Buffer = rows;
    const { backend } = await backendOf((response) => {
      response.setHeader("X-ClickHouse-Exception-Tag", tag);
      response.end(body);
    });
    const kindsOf = async () => {
      const kinds: string[] = [];
      const course = backend.course?.(relayedOf("select 1", relay), never, true);
      if (course === undefined) throw new Error("no course");
      for (;;) {
        const step = await nextOf(course);
        if (step.done === true) return kinds;
        const event = step.value;
        kinds.push(event.kind === "done" && event.whole?.batch ? "whole" : event.kind);
      }
    };
    expect(await kindsOf()).toEqual(["whole"]);
    body = Buffer.from(marked);
    expect(await kindsOf()).toEqual(["columns", "batch", "failed"]);
  });

  it("answers blocks, and no bytes, where nobody may count the rows", async () => {
    const { backend, seen } = await backendOf((response) => response.end());
    const query = { ...identifiedOf("insert into t values (1)"), relay, takes: [] };
    for await (const event of backend.execute(query, never)) expect(event.kind).not.toBe("batch");
    expect(seen[0]?.url).toContain("default_format=Native");
  });
});

describe("a statement that was sent at once", () => {
  it("is a course from where more of its answer is to come", async () => {
    const responses: ServerResponse[] = [];
    const { backend } = await backendOf((response) => {
      responses.push(response);
      response.write(rows);
    });
    const sent = backend.ask?.(relayedOf("select 1", relay), never);
    if (sent === undefined) throw new Error("it was not sent");
    await new Promise<void>((came) => sent.wait({ came }));
    expect(sent.whole()).toBeUndefined();
    const answer = answerOf(sent.course());
    responses.at(-1)?.end(rows);
    const events: ResultEvent[] = [];
    for await (const event of await answer) events.push(event);
    expect(bytesOf(events)).toEqual(Buffer.concat([rows, rows]));
    expect(events.at(-1)?.kind).toBe("done");
  });

  it("is ended in the server where it is aborted before its answer", async () => {
    const { backend, seen, killed } = await backendOf(() => undefined);
    const controller = new AbortController();
    const sent = backend.ask?.(relayedOf("select 1", relay), controller.signal);
    if (sent === undefined) throw new Error("it was not sent");
    await vi.waitFor(() => expect(seen.length).toBe(1));
    sent.wait({
      came: () => {
        throw new Error("whoever aborts knows");
      },
    });
    controller.abort();
    expect(sent.whole()).toBeUndefined();
    const events: ResultEvent[] = [];
    for await (const event of await answerOf(sent.course())) events.push(event);
    expect(events).toMatchObject([{ kind: "failed", error: { code: "query.cancelled" } }]);
    expect(killed.length).toBeGreaterThan(0);
  });

  it("is not sent where it brings rows, or nobody takes its bytes", async () => {
    const { backend, seen } = await backendOf((response) => response.end());
    const body = { bytes: piecesOf(rows), encoding: undefined, blocks: false };
    const insert = relayedOf("insert into t format Native", { ...relay, body });
    expect(backend.ask?.(insert, never)).toBeUndefined();
    expect(backend.ask?.({ ...relayedOf("select 1", relay), takes: [] }, never)).toBeUndefined();
    expect(backend.ask?.(relayedOf("select 1", relay), AbortSignal.abort())).toBeUndefined();
    expect(seen).toEqual([]);
  });
});

interface Seen {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

const servers: Server[] = [];
const backends: Backend[] = [];

afterEach(async () => {
  await Promise.all(backends.splice(0).map((backend) => backend[Symbol.asyncDispose]()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A backend whose server answers statements so, and `KILL` with nothing. */
async function backendOf(answer: Answer) {
  const seen: Seen[] = [];
  const killed: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      if (body.toString("latin1").startsWith("KILL")) {
        killed.push(body);
        return void response.end();
      }
      seen.push({ url: request.url ?? "", headers: request.headers, body });
      answer(response);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = clickHouseConfig.parse({
    engine: "clickHouse",
    endpoint,
    settings: { readonly: "2" },
  });
  const backend = valueOf(await open("relay", config, hostOf()));
  backends.push(backend);
  return { backend, seen, killed };
}

function relayedOf(sql: string, asked: Relay): Identified {
  return { ...identifiedOf(sql), relay: asked, takes: ["clickHouseBody"] };
}

async function eventsInTurn(
  backend: Backend,
  sql: string,
  asked: Relay,
): Promise<readonly ResultEvent[]> {
  const events: ResultEvent[] = [];
  for await (const event of backend.execute(relayedOf(sql, asked), never)) events.push(event);
  return events;
}

/** As a client leaves them who has what passed. */
async function eventsWrittenOver(
  backend: Backend,
  sql: string,
  asked: Relay,
): Promise<readonly ResultEvent[]> {
  const events: ResultEvent[] = [];
  for await (const event of backend.execute(relayedOf(sql, asked), never)) {
    events.push(structuredClone(event));
    if (event.kind === "batch" && event.batch.form === "native") event.batch.bytes.fill(0);
  }
  return events;
}

async function eventsAtOnce(
  backend: Backend,
  sql: string,
  asked: Relay,
): Promise<readonly ResultEvent[]> {
  const course = backend.course?.(relayedOf(sql, asked), never, true);
  if (course === undefined) throw new Error("no course");
  const events: ResultEvent[] = [];
  for await (const event of await answerOf(course)) events.push(event);
  return events;
}

/** Those that are not sent at once are asked for as the others. */
async function eventsOfAsked(
  backend: Backend,
  sql: string,
  asked: Relay,
): Promise<readonly ResultEvent[]> {
  const sent = backend.ask?.(relayedOf(sql, asked), never);
  if (sent === undefined) return eventsAtOnce(backend, sql, asked);
  await new Promise<void>((came) => sent.wait({ came }));
  const done = sent.whole();
  if (done !== undefined) return wholeEvents(done);
  const events: ResultEvent[] = [];
  for await (const event of await answerOf(sent.course())) events.push(event);
  return events;
}

function headOf(events: readonly ResultEvent[]): unknown {
  const columns = events.find((event) => event.kind === "columns");
  return columns?.native?.headers;
}

function bytesOf(events: readonly ResultEvent[]): Buffer {
  return Buffer.concat(
    events.flatMap((event) =>
      event.kind === "batch" && event.batch.form === "native" ? [event.batch.bytes] : [],
    ),
  );
}

async function* piecesOf(...pieces: readonly Uint8Array[]) {
  for (const piece of pieces) yield piece;
}
