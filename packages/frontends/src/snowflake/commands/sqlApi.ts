/**
 * Snowflake's SQL API, version 2: each request shows its own token and names its own place, so no session is kept.
 * Source: Snowflake SQL API reference.
 */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";
import { failureOf } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { single, visibleHeaders } from "../login/headers.ts";
import { presentedToken } from "../login/login.ts";
import { afterWait, replies } from "../machine.ts";
import { rowsOf } from "../page/answers.ts";
import { sendDocument } from "../page/respond.ts";
import type { Execution } from "../run/execution.ts";
import { waitFor } from "../run/wait.ts";
import { cancel, stateOf, type Submitted } from "../run/registry.ts";
import { prepare, submit, type Asked, type Served } from "../run/submit.ts";
import { detachedSession, type LiveSession } from "../session/sessions.ts";
import { newState, withoutAutocommit, withParameter, type SessionState } from "../session/state.ts";
import { readBindings } from "../value/bindings.ts";
import { rowType } from "../value/rowType.ts";

const inflate = promisify(gunzip);

export const statementsPath = "/api/v2/statements";
/** As long as the reference says that a request waits before its answer is 202. */
const waitMs = 45_000;
const patienceMs = 2_000;
const tokenTypeHeader = "x-snowflake-authorization-token-type";

const parameter = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const bodySchema = z.object({
  statement: z.string(),
  timeout: z.number().int().min(0).max(604_800).nullish(),
  database: z.string().nullish(),
  schema: z.string().nullish(),
  warehouse: z.string().nullish(),
  role: z.string().nullish(),
  bindings: z.unknown().optional(),
  parameters: z.record(z.string(), parameter).nullish(),
});
type Body = z.output<typeof bodySchema>;

/** What goes on over several requests. */
export class SqlApi {
  readonly #served: Served;

  constructor(served: Served) {
    this.#served = served;
  }

  /** Who asks, by the token of the request. */
  async logIn({ request, peer }: Exchange): Promise<Result<Login, GatewayError>> {
    const { door } = this.#served;
    const at = { frontend: "snowflakeHttp", address: peer.address, patienceMs };
    const [, token] = /^Bearer\s+(\S{1,16384})$/i.exec(request.headers.authorization ?? "") ?? [];
    if (token === undefined) {
      const nothing = { kind: "nothing", user: undefined, asked: false } as const;
      return door.authenticate(nothing, at);
    }
    const shown = presentedToken(token, single(request.headers[tokenTypeHeader]));
    if (shown === undefined || !peer.mayTakeCredentials) {
      const error = gatewayError(shown === undefined ? "auth.refused" : "auth.cleartext");
      door.refused(error.code, { kind: shown?.kind ?? "bearer", user: undefined }, at);
      return err(error);
    }
    return door.authenticate(shown, at);
  }

  /** `POST /api/v2/statements`. */
  async submit(
    exchange: Exchange,
    login: Login,
    body: unknown,
    query: URLSearchParams,
  ): Promise<void> {
    const read = bodySchema.safeParse(body);
    if (!read.success) return refuse(exchange, notUnderstood);
    const session = this.#sessionOf(exchange, login, read.data);
    if (!session.ok) return refuse(exchange, session.error);
    const left = new AbortController();
    exchange.response.once("close", () => left.abort());
    const isAsync = query.get("async") === "true";
    const asked = askedBy(
      read.data,
      { isAsync, requestId: query.get("requestId") ?? "" },
      left.signal,
    );
    if (!asked.ok) return refuse(exchange, asked.error);
    const prepared = await prepare(asked.value, session.value, this.#served);
    if (!prepared.ok) return refuse(exchange, prepared.error);
    if (exchange.response.destroyed) return;
    const submitted = submit(prepared.value, asked.value, session.value, this.#served);
    this.#limit(submitted, read.data.timeout);
    if (isAsync) return sendRunning(exchange, submitted);
    return this.#answer(exchange, submitted, 0);
  }

  /** `GET /api/v2/statements/{handle}`. */
  async status(exchange: Exchange, login: Login, id: string, partition: number): Promise<void> {
    const submitted = this.#served.registry.find(id, login.identity.user);
    if (submitted === undefined) return refuse(exchange, gatewayError("query.unknown"), 404);
    if (replies[stateOf(submitted)].result === "wait") return sendRunning(exchange, submitted);
    return this.#answer(exchange, submitted, partition);
  }

  /** `POST /api/v2/statements/{handle}/cancel`. */
  end(exchange: Exchange, login: Login, id: string): void {
    const submitted = this.#served.registry.find(id, login.identity.user);
    if (submitted === undefined) return refuse(exchange, gatewayError("query.unknown"), 404);
    cancel(submitted);
    const message = "Statement execution was cancelled.";
    sendDocument(exchange, 200, {
      code: "000604",
      sqlState: "57014",
      message,
      ...linksTo(submitted.handle),
    });
  }

  #sessionOf(
    { request, peer }: Exchange,
    login: Login,
    body: Body,
  ): Result<LiveSession, GatewayError> {
    if (body.role) return err(noRoles);
    let state: Result<SessionState, GatewayError> = ok({
      ...newState,
      database: body.database ?? undefined,
      schema: body.schema ?? undefined,
      warehouse: body.warehouse ?? undefined,
    });
    for (const [name, value] of Object.entries(body.parameters ?? {})) {
      if (!state.ok) return state;
      if (value !== null) state = withParameter(state.value, name, String(value));
    }
    if (!state.ok) return state;
    if (withoutAutocommit(state.value)) return err(noCommit);
    const owner = {
      login,
      clientAddress: peer.address,
      headers: visibleHeaders(request.headers),
      application: "",
    };
    return ok(detachedSession(owner, state.value));
  }

  #limit(submitted: Submitted, seconds: number | null | undefined): void {
    if (seconds === null || seconds === undefined || seconds === 0) return;
    const { clock } = this.#served.host;
    const timer = clock.timer(seconds * 1_000, () => cancel(submitted, "query.timeout"));
    void submitted.over.then(() => timer[Symbol.dispose]());
  }

  async #answer(exchange: Exchange, submitted: Submitted, partition: number): Promise<void> {
    const { clock } = this.#served.host;
    await waitFor(submitted, exchange.response, { clock, waitMs });
    if (exchange.response.destroyed) {
      if (submitted.waiting === 0 && !submitted.isAsync) cancel(submitted);
      return this.#served.registry.answered(submitted);
    }
    if (afterWait(stateOf(submitted)) === "inProgress") return sendRunning(exchange, submitted);
    const failure = submitted.executions.find(({ outcome }) => outcome?.kind === "failed")?.outcome;
    if (failure?.kind === "failed") refuse(exchange, failure.error, 422, submitted.handle);
    else await sendPartition(exchange, submitted, partition);
    this.#served.registry.answered(submitted);
  }
}

function askedBy(
  { statement, bindings, parameters }: Body,
  { isAsync, requestId }: Pick<Asked, "isAsync" | "requestId">,
  signal: AbortSignal,
): Result<Asked, GatewayError> {
  const executions = readBindings(bindings);
  if (!executions.ok) return executions;
  const statements = Number(parameters?.["MULTI_STATEMENT_COUNT"] ?? 1);
  return ok({
    sql: statement,
    executions: executions.value,
    requestId,
    statements,
    isAsync,
    wantsArrow: false,
    writesValues: false,
    signal,
  });
}

/** Rows of the result: the first partition comes with what is known of all. */
async function sendPartition(
  exchange: Exchange,
  submitted: Submitted,
  partition: number,
): Promise<void> {
  const last = submitted.executions.at(-1);
  if (last === undefined) throw new Error("a statement without an execution");
  // A driver of the other protocol asked for it, in a form that this one does not have.
  if (last.spool.format.name !== "json") return refuse(exchange, notJson, 422, submitted.handle);
  if (partition > 0) {
    const packed = await last.spool.read(partition - 1);
    if (packed === undefined) return refuse(exchange, noPartition, 400, submitted.handle);
    submitted.unread.delete(partition - 1);
    const rows = await inflate(packed);
    const parts = [Buffer.from('{"data":['), rows, Buffer.from("]}")];
    return sendDocument(exchange, 200, Buffer.concat(parts));
  }
  const { columns, inline: json, total, chunks } = rowsOf(last);
  const first = {
    rowCount: chunks.length === 0 ? total : last.spool.inlineRows,
    uncompressedSize: json.length,
  };
  const others = chunks.map(({ rows, uncompressed, compressed }) => ({
    rowCount: rows,
    uncompressedSize: uncompressed,
    compressedSize: compressed,
  }));
  const facts = {
    resultSetMetaData: {
      numRows: total,
      format: "jsonv2",
      rowType: columns.map(rowType),
      partitionInfo: [first, ...others],
    },
    code: "090001",
    sqlState: "00000",
    message: "Statement executed successfully.",
    createdOn: 0,
    ...(submitted.several
      ? { statementHandles: submitted.executions.map((one) => handleOf(submitted, one)) }
      : {}),
    ...linksTo(submitted.handle),
  };
  const head = JSON.stringify(facts);
  return sendDocument(exchange, 200, Buffer.from(`${head.slice(0, -1)},"data":${json}}`));
}

function sendRunning(exchange: Exchange, { handle }: Submitted): void {
  const message =
    "Asynchronous execution in progress. Use provided query id to perform query monitoring and management.";
  sendDocument(exchange, 202, { code: "333334", sqlState: "", message, ...linksTo(handle) });
}

/** The handle of a statement: the gateway that has it, and its id. */
function linksTo(handle: string) {
  return { statementHandle: handle, statementStatusUrl: `${statementsPath}/${handle}` };
}

/** Of one of several statements: the same gateway has it. */
function handleOf({ handle }: Submitted, { polled }: Execution): string {
  return handle.slice(0, handle.indexOf(".") + 1) + polled.query.id;
}

/** What a handle says; nothing of it is believed. */
export function handleIn(handle: string | undefined): {
  readonly mark: string | undefined;
  readonly id: string | undefined;
} {
  const [, mark, id] = /^([\w-]{1,200})\.([\w-]{1,128})$/.exec(handle ?? "") ?? [];
  return { mark, id: id ?? handle };
}

/** By the status of the reference: 401 for who asks, 422 for what is asked. */
function refuse(
  exchange: Exchange,
  error: GatewayError,
  status = statusOf(error),
  handle?: string,
): void {
  const { code, sqlState, message } = failureOf(error);
  const facts = { code, sqlState, message, ...(handle === undefined ? {} : linksTo(handle)) };
  sendDocument(exchange, status, facts);
}

/** Refuses a request before its statement was looked at. */
export function refuseApi(exchange: Exchange, error: GatewayError): void {
  refuse(exchange, error);
}

function statusOf({ code }: GatewayError): number {
  if (code.startsWith("auth.")) return code === "auth.unavailable" ? 503 : 401;
  if (code === "protocol.violation") return 400;
  if (code === "protocol.tooLarge") return 413;
  if (code === "config.notReady" || code === "gateway.draining" || code === "connection.limit")
    return 503;
  return 422;
}

const notUnderstood = gatewayError("protocol.violation", {
  message: "the request is not understood",
});
/** No later request could end it. */
const noCommit = gatewayError("query.unsupported", {
  message: "A request has no transaction that outlives it: AUTOCOMMIT can not be off here.",
});
const notJson = gatewayError("query.unsupported", {
  message: "The result is kept as Arrow, for the driver that asked for it.",
});
const noPartition = gatewayError("query.parameters", { message: "There is no such partition." });
const noRoles = gatewayError("query.unsupported", {
  message: "Roles are the engine's here: the request keeps the rights of its login.",
});
