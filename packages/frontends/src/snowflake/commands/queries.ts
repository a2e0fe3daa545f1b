/** Statements: run, ask again, watch, end; and the rows that are downloaded. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { z } from "zod";
import type { Exchange, InSession } from "../exchange.ts";
import { afterWait, replies, stateNames } from "../machine.ts";
import { failed, resultText, running, succeeded } from "../page/answers.ts";
import { sendChunk, sendJson, sendStatus, sendText } from "../page/respond.ts";
import { cancel, stateOf, type Submitted } from "../run/registry.ts";
import {
  answerLocally,
  beginImplicitly,
  prepare,
  sessionNow,
  submit,
  type Asked,
  type Prepared,
  type Served,
} from "../run/submit.ts";
import { waitFor } from "../run/wait.ts";
import { listed, type Listed } from "./listings.ts";
import type { LiveSession } from "../session/sessions.ts";
import { wantsArrow, writesValues } from "../session/driver.ts";
import { parametersOf } from "../session/state.ts";
import { scannedResult } from "../read/local.ts";
import { readBindings } from "../value/bindings.ts";
import { idOf, uuidOf } from "../value/queryUuid.ts";
import { rowType } from "../value/rowType.ts";

/** How long a request waits for its result; drivers ask again by themselves. */
const waitMs = 45_000;

const parameter = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const querySchema = z.object({
  sqlText: z.string(),
  asyncExec: z.boolean().nullish(),
  describeOnly: z.boolean().nullish(),
  parameters: z.record(z.string(), parameter).nullish(),
  bindings: z.unknown().optional(),
  bindStage: z.string().nullish(),
});
type QueryBody = z.output<typeof querySchema>;

export class Queries {
  readonly #served: Served;

  constructor(served: Served) {
    this.#served = served;
  }

  /** `query-request`: runs a text and answers its result, or that it still runs. */
  async run(found: InSession, body: unknown, requestId: string): Promise<void> {
    const { exchange, session } = found;
    const { response } = exchange;
    const read = querySchema.safeParse(body);
    if (!read.success) return refuse(exchange, notUnderstood);
    const earlier = scannedResult(read.data.sqlText);
    if (earlier !== undefined) return this.result(found, earlier);
    const local = answerLocally(read.data.sqlText, session);
    if (local !== undefined) {
      return local.ok ? sendJson(response, done(session)) : refuse(exchange, local.error);
    }
    const left = new AbortController();
    response.once("close", () => left.abort());
    const asked = askedBy(read.data, { requestId, session, signal: left.signal });
    if (!asked.ok) return refuse(exchange, asked.error);
    const prepared = await prepare(asked.value, session, this.#served);
    if (!prepared.ok) return refuse(exchange, prepared.error, read.data.sqlText);
    if (read.data.describeOnly === true) {
      return this.#describe(found, prepared.value, left.signal);
    }
    const rows =
      read.data.asyncExec === true
        ? undefined
        : await listed(prepared.value, session, this.#served, left.signal);
    if (rows !== undefined) {
      return rows.ok
        ? sendJson(response, listing(session, rows.value))
        : refuse(exchange, rows.error);
    }
    // A driver that left while its text was read wants nothing any more.
    if (response.destroyed) return;
    const begun = await beginImplicitly(prepared.value, session, this.#served, left.signal);
    if (!begun.ok) return refuse(exchange, begun.error);
    const submitted = submit(prepared.value, asked.value, session, this.#served);
    const ask = asked.value.isAsync ? "submitAsync" : "result";
    if (replies[stateOf(submitted)][ask] === "inProgressAsync") {
      return sendJson(response, running(submitted, true));
    }
    return this.#answer(exchange, submitted);
  }

  /** The result of a statement by its id, as often as it is asked for. */
  async result({ exchange, session }: InSession, id: string): Promise<void> {
    const submitted = this.#find(session, id);
    if (submitted === undefined) return refuse(exchange, gatewayError("query.unknown"));
    return this.#answer(exchange, submitted);
  }

  /** What is known of a statement without its rows. */
  monitor({ exchange, session }: InSession, id: string): void {
    const submitted = this.#find(session, id);
    const queries = submitted === undefined ? [] : [monitored(submitted)];
    sendJson(exchange.response, succeeded({ queries }));
  }

  /** Rows that the answer had no room for. The secret in the address opens them: drivers show no token here. */
  async chunk(
    { request, response }: Exchange,
    {
      id,
      secret,
      number,
    }: { readonly id: string; readonly secret: string; readonly number: number },
  ): Promise<void> {
    const found = this.#served.registry.withSecret(id, secret);
    const bytes = await found?.executions.at(-1)?.spool.read(number);
    if (found === undefined || bytes === undefined) {
      return sendStatus(request, response, 404, "There are no such rows");
    }
    found.unread.delete(number);
    sendChunk(response, bytes);
    this.#served.registry.answered(found);
  }

  /** Ends the statement of that request. False when there is none. */
  abort(session: LiveSession, requestId: string): boolean {
    const { registry } = this.#served;
    const found = registry.runningOf(session).find((one) => one.requestId === requestId);
    if (found === undefined) return false;
    cancel(found);
    return true;
  }

  /** Ends a statement by its id: one of the session's user here, or one that the user may end elsewhere. */
  async abortId(session: LiveSession, id: string): Promise<Result<void, GatewayError>> {
    const found = this.#find(session, id);
    if (found === undefined) {
      return this.#served.door.cancel(idOf(id) as QueryId, session.owner.login.identity);
    }
    cancel(found);
    return ok(undefined);
  }

  /** Ends what a session that is closed still runs. */
  endOf(session: LiveSession): void {
    for (const submitted of this.#served.registry.runningOf(session)) cancel(submitted);
  }

  #find(session: LiveSession, id: string): Submitted | undefined {
    return this.#served.registry.find(idOf(id), session.owner.login.identity.user);
  }

  async #answer(exchange: Exchange, submitted: Submitted): Promise<void> {
    const { request, response, peer } = exchange;
    await waitFor(submitted, response, { clock: this.#served.host.clock, waitMs });
    if (response.destroyed) {
      // A driver that waits and leaves wants it no more; one that did not mean to wait comes back.
      if (submitted.waiting === 0 && !submitted.isAsync) cancel(submitted);
      return this.#served.registry.answered(submitted);
    }
    if (afterWait(stateOf(submitted)) === "inProgress") {
      return sendJson(response, running(submitted, false));
    }
    const { id, secret, session } = submitted;
    const { mark } = this.#served;
    const text = resultText({
      submitted,
      state: session.state,
      nowMs: this.#served.host.clock.unixMs(),
      links: () => ({
        urlOf: (chunk) => `${peer.baseUrl}/chunks/${mark}/${id}/${secret}/${chunk}`,
      }),
    });
    await sendText(request, response, text);
    this.#served.registry.answered(submitted);
  }

  async #describe(
    { exchange, session }: InSession,
    { ready, dialect }: Prepared,
    signal: AbortSignal,
  ): Promise<void> {
    const { door } = this.#served;
    const [one] = ready;
    if (one === undefined) return refuse(exchange, notUnderstood);
    const { sql, parameters } = one;
    const query = door.query(readStatement(sql, dialect), parameters, sessionNow(session, dialect));
    const described = await door.describe(query, signal);
    if (!described.ok) return refuse(exchange, described.error, sql);
    const { columns } = described.value;
    sendJson(exchange.response, {
      ...done(session, query.id),
      data: {
        ...doneData(session, query.id),
        rowtype: columns.map(rowType),
        rowset: [],
        total: 0,
        returned: 0,
        numberOfBinds: described.value.parameters.length,
      },
    });
  }
}

function askedBy(
  { sqlText, parameters, bindings, bindStage, asyncExec }: QueryBody,
  { requestId, session, signal }: Pick<Asked, "requestId" | "signal"> & Pick<InSession, "session">,
): Result<Asked, GatewayError> {
  if (bindStage) return { ok: false, error: noStages };
  const executions = readBindings(bindings);
  if (!executions.ok) return executions;
  const statements = Number(parameters?.["MULTI_STATEMENT_COUNT"] ?? 1);
  const isAsync = asyncExec === true;
  return ok({
    sql: sqlText,
    executions: executions.value,
    requestId,
    statements,
    isAsync,
    wantsArrow: wantsArrow(session, parameters ?? {}),
    writesValues: writesValues(session),
    signal,
  });
}

function doneData(session: LiveSession, queryId: string) {
  const { state } = session;
  return {
    parameters: parametersOf(state),
    rowtype: [rowType({ name: "status", type: { kind: "text" }, nullable: false })],
    rowset: [["Statement executed successfully."]],
    total: 1,
    returned: 1,
    queryId: uuidOf(queryId),
    databaseProvider: null,
    finalDatabaseName: state.database ?? null,
    finalSchemaName: state.schema ?? null,
    finalWarehouseName: state.warehouse ?? null,
    finalRoleName: "",
    numberOfBinds: 0,
    arrayBindSupported: true,
    statementTypeId: 0x4000,
    version: 1,
    queryResultFormat: "json",
  };
}

function done(session: LiveSession, queryId = "") {
  return succeeded(doneData(session, queryId));
}

function listing(session: LiveSession, { columns, rows }: Listed) {
  const { length: total } = rows;
  const shown = { rowtype: columns.map(rowType), rowset: rows, total, returned: total };
  return succeeded({ ...doneData(session, ""), ...shown });
}

function monitored(submitted: Submitted) {
  const { id, executions, sql } = submitted;
  const failure = executions.find(({ outcome }) => outcome?.kind === "failed")?.outcome;
  const status = stateNames[stateOf(submitted)];
  const error = failure?.kind === "failed" ? failed(failure.error) : undefined;
  return {
    id: uuidOf(id),
    status,
    sqlText: sql,
    ...(error === undefined ? {} : { errorCode: error.code, errorMessage: error.message }),
  };
}

function refuse({ response }: Exchange, error: GatewayError, sql?: string): void {
  sendJson(response, failed(error, sql === undefined ? {} : { sql }));
}

const notUnderstood = gatewayError("protocol.violation", {
  message: "the request is not understood",
});
const noStages = gatewayError("query.unsupported", {
  message:
    "Values in a stage can not be bound here; set CLIENT_STAGE_ARRAY_BINDING_THRESHOLD to 0.",
});
