/**
 * A server that speaks Trino's client protocol, over a handful of statements, and misbehaves on command.
 *
 * It keeps to what clients of a real one may rely on: a submission is answered at once, each answer
 * names the next, the last one asked for may be asked for again, `DELETE` ends a query.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { brokenMark, FakeSql, type Outcome } from "./trinoSql.ts";

/** What is done to one answer instead of sending it. */
export type Fault =
  | { readonly kind: "stall" }
  /** Half of the answer, then the connection is gone. */
  | { readonly kind: "cut" }
  | { readonly kind: "bytes"; readonly bytes: string }
  /** Says that more bytes come than there are. */
  | { readonly kind: "longLength" }
  | { readonly kind: "redirect"; readonly to: string }
  | { readonly kind: "status"; readonly status: number; readonly headers?: Record<string, string> }
  /** Replaces text in the answer. */
  | { readonly kind: "replace"; readonly text: string; readonly by: string };

/** One request as it came. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface FakeTrino extends AsyncDisposable {
  readonly origin: string;
  readonly seen: Seen[];
  /** Asked for each request; undefined lets it pass. */
  fault: (seen: Seen) => Fault | undefined;
  /** Sent with the next answers of statements. */
  extraHeaders: Record<string, string | string[]>;
  /** Answers are compressed. */
  gzip: boolean;
  /** Outcomes by the exact text of a statement, before what the fake knows itself. */
  readonly answers: Map<string, () => Outcome>;
  /** Other paths it serves. */
  readonly files: Map<string, string>;
  /** Takes a `DELETE` and goes on; answers it with `endAll`. */
  deaf: boolean;
  /** Statements that have not ended. */
  running(): number;
  /** Ends them all. */
  endAll(): void;
}

interface Query {
  readonly id: string;
  readonly sql: string;
  readonly outcome: Outcome;
  readonly tags: readonly string[];
  token: number;
  page: string;
  state: "RUNNING" | "FINISHED" | "FAILED";
  columnsSent: boolean;
}

const statementPath = "/v1/statement";
/** How long a poll of a query without news is held. */
const holdMs = 5;

/** Starts one on a free port. */
export async function fakeTrino(): Promise<FakeTrino> {
  const fake = new Fake();
  await fake.listen();
  return fake;
}

class Fake implements FakeTrino {
  origin = "";
  readonly seen: Seen[] = [];
  fault: (seen: Seen) => Fault | undefined = () => undefined;
  extraHeaders: Record<string, string | string[]> = {};
  gzip = false;
  deaf = false;
  readonly answers = new Map<string, () => Outcome>();
  readonly files = new Map<string, string>();
  readonly #sql = new FakeSql();
  readonly #queries = new Map<string, Query>();
  /** Answers of `DELETE` that are kept back. */
  readonly #unheard: (() => void)[] = [];
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  running(): number {
    return [...this.#queries.values()].filter(({ state }) => state === "RUNNING").length;
  }

  endAll(): void {
    for (const query of this.#queries.values()) endIfRunning(query);
    for (const answer of this.#unheard.splice(0)) answer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    const seen = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body,
    };
    this.seen.push(seen);
    const fault = this.fault(seen);
    // What a proxy answers never reached the server.
    if (fault?.kind === "status") {
      response.writeHead(fault.status, fault.headers).end();
      return;
    }
    const answer = this.#answer(seen);
    if (answer === undefined) {
      response.writeHead(404).end();
      return;
    }
    if (answer === "refused") {
      // A real one parses prepared statements before it takes the submission.
      response.writeHead(400).end("Invalid X-Trino-Prepared-Statement header");
      return;
    }
    if (answer === "unheard") await new Promise<void>((resolve) => this.#unheard.push(resolve));
    if (answer === "gone" || answer === "unheard") {
      response.writeHead(204).end();
      return;
    }
    if (answer.hold) await new Promise((resolve) => setTimeout(resolve, holdMs));
    this.#send(response, answer, fault);
  }

  #send(response: ServerResponse, { text, headers }: Text, fault: Fault | undefined): void {
    const plain = fault?.kind === "replace" ? text.replaceAll(fault.text, fault.by) : text;
    const packed = this.gzip ? gzipSync(plain) : Buffer.from(plain);
    const encoding = this.gzip ? { "content-encoding": "gzip" } : {};
    const all = { "content-type": "application/json", ...encoding, ...headers };
    switch (fault?.kind) {
      case undefined:
      case "replace":
      case "status":
        response.writeHead(200, all).end(packed);
        return;
      case "stall":
        return;
      case "cut":
        response.writeHead(200, { ...all, "content-length": packed.length });
        response.write(packed.subarray(0, packed.length >> 1), () => response.destroy());
        return;
      case "bytes":
        response.writeHead(200, all).end(fault.bytes);
        return;
      case "longLength":
        response.writeHead(200, { ...all, "content-length": packed.length + 10 });
        response.write(packed, () => response.socket?.end());
        return;
      case "redirect":
        response.writeHead(307, { location: fault.to }).end();
        return;
    }
  }

  #answer(
    seen: Seen,
  ): (Text & { readonly hold: boolean }) | "gone" | "unheard" | "refused" | undefined {
    const { method, path } = seen;
    if (path === "/v1/info") return { text: '{"starting":false}', headers: {}, hold: false };
    const file = this.files.get(path);
    if (file !== undefined) return { text: file, headers: {}, hold: false };
    if (path === "/v1/query") return { text: this.#list(), headers: {}, hold: false };
    if (method === "POST" && path === statementPath) {
      const begun = this.#begin(seen);
      return begun === "refused" ? begun : { ...begun, hold: false };
    }
    const [, id = "", token = ""] =
      /^\/v1\/statement\/executing\/(\w+)\/y1\/(\d+)$/.exec(path) ?? [];
    const query = this.#queries.get(id);
    if (query === undefined) return undefined;
    if (method === "DELETE") {
      if (this.deaf) return "unheard";
      endIfRunning(query);
      return "gone";
    }
    const hold = query.outcome.endless === true && query.state === "RUNNING";
    return { text: this.#poll(query, Number(token)), headers: this.#headersOf(query), hold };
  }

  #begin(seen: Seen): Text | "refused" {
    const id = `q${this.#queries.size + 1}`;
    const prepared = String(seen.headers["x-trino-prepared-statement"] ?? "").split("=")[1] ?? "";
    const asked = {
      transaction: seen.headers["x-trino-transaction-id"]?.toString(),
      prepared: decodeURIComponent(prepared.replaceAll("+", " ")),
    };
    if (asked.prepared.includes(brokenMark)) return "refused";
    const known = this.answers.get(seen.body);
    const query: Query = {
      id,
      sql: seen.body,
      outcome: known === undefined ? this.#sql.run(seen.body, asked) : known(),
      tags: String(seen.headers["x-trino-client-tags"] ?? "").split(","),
      token: 0,
      page: "",
      state: "RUNNING",
      columnsSent: false,
    };
    this.#queries.set(id, query);
    return { text: this.#page(query, true, ""), headers: this.#headersOf(query) };
  }

  #headersOf({ outcome }: Query): Text["headers"] {
    return { ...outcome.headers, ...this.extraHeaders };
  }

  #poll(query: Query, token: number): string {
    if (token === query.token) return query.page;
    query.token = token;
    query.page = this.#next(query);
    return query.page;
  }

  #next(query: Query): string {
    const { outcome } = query;
    if (query.state === "FAILED") {
      return this.#page(
        query,
        false,
        errorText({ name: "USER_CANCELED", type: "USER_ERROR", message: "Query was canceled" }),
      );
    }
    if (outcome.error !== undefined) {
      query.state = "FAILED";
      return this.#page(query, false, errorText(outcome.error));
    }
    if (outcome.endless === true) return this.#page(query, true, "");
    const step = outcome.pages?.next();
    if (step?.done === false) return this.#page(query, true, "", step.value);
    query.state = "FINISHED";
    return this.#page(query, false, "");
  }

  #page(query: Query, more: boolean, error: string, rows?: string): string {
    const { id, outcome } = query;
    const next = `${this.origin}${statementPath}/executing/${id}/y1/${query.token + 1}`;
    const columns = query.page === "" && query.token === 0 ? undefined : outcome.columns;
    const { updateType, updateCount } = outcome;
    return [
      `{"id":"${id}","infoUri":"${this.origin}/ui/${id}"`,
      more ? `,"nextUri":"${next}"` : "",
      columns === undefined || error !== "" ? "" : `,"columns":${columnsText(columns)}`,
      rows === undefined ? "" : `,"data":${rows}`,
      `,"stats":${statsText(query)}`,
      error,
      ',"warnings":[]',
      updateType === undefined ? "" : `,"updateType":"${updateType}"`,
      updateCount === undefined ? "" : `,"updateCount":${updateCount}`,
      "}",
    ].join("");
  }

  #list(): string {
    const queries = [...this.#queries.values()].map(({ id, state, tags }) => ({
      queryId: id,
      state,
      session: { clientTags: tags },
    }));
    return JSON.stringify(queries);
  }
}

interface Text {
  readonly text: string;
  readonly headers: Record<string, string | string[]>;
}

function endIfRunning(query: Query): void {
  if (query.state === "RUNNING") query.state = "FAILED";
}

function columnsText(columns: NonNullable<Outcome["columns"]>): string {
  return JSON.stringify(
    columns.map(([name, type]) => ({
      name,
      type,
      typeSignature: { rawType: type, arguments: [] },
    })),
  );
}

function statsText({ state }: Query): string {
  const counts = {
    nodes: 1,
    totalSplits: 3,
    queuedSplits: 0,
    runningSplits: 1,
    completedSplits: 2,
  };
  return JSON.stringify({
    state,
    queued: false,
    progressPercentage: 66.6,
    ...counts,
    cpuTimeMillis: 7,
    processedRows: 11,
    processedBytes: 13,
    peakMemoryBytes: 17,
    rootStage: { stageId: "0", subStages: [] },
  });
}

function errorText(error: NonNullable<Outcome["error"]>): string {
  const { name, type, message, line, column } = error;
  const errorLocation =
    line === undefined ? {} : { errorLocation: { lineNumber: line, columnNumber: column } };
  const text = { message, errorCode: 1, errorName: name, errorType: type, ...errorLocation };
  return `,"error":${JSON.stringify(text)}`;
}
