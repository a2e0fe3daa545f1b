/**
 * The extended protocol of one connection: the messages over prepared statements and portals.
 *
 * Each method answers a failure as a value; what then happens to the rest of the series is in
 * `machine.ts`.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Description } from "@gateway/core/query/event.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Column, DataType, Parameter } from "@gateway/core/type/type.ts";
import type { FrontendMessage } from "@gateway/wire/postgres/message.ts";
import type { ClientSession } from "./clientSession.ts";
import {
  declaredNulls,
  knownColumns,
  leavesTypesOpen,
  parameterOid,
  parameterType,
  promisedColumns,
  TypeMemory,
} from "./described.ts";
import type { ErrorPlace } from "./errors.ts";
import { formatCountError } from "./execution.ts";
import { Kept } from "./kept.ts";
import type { Forget } from "./localAnswer.ts";
import type { Outbox } from "./outbox.ts";
import { readParameter } from "./parameter.ts";
import { formatsFor, rowFields } from "./rows.ts";
import type { Runner } from "./runner.ts";
import { mayChangeTypes, preparedOf, type Portal, type Prepared } from "./statement.ts";

/** A step that failed, and where to point at. */
export interface Failure {
  readonly error: GatewayError;
  readonly place: ErrorPlace;
}

type MessageOf<Kind extends FrontendMessage["kind"]> = Extract<FrontendMessage, { kind: Kind }>;

/** Texts and values one connection may keep, in messages of the largest size. */
const keptMessagesMax = 4;

export interface SeriesParts {
  readonly session: ClientSession;
  readonly out: Outbox;
  readonly runner: Runner;
  readonly maxMessageBytes: number;
}

export class Series {
  readonly #parts: SeriesParts;
  readonly #kept: Kept;
  readonly #memory = new TypeMemory();
  /** The portal that is stepping now. */
  #running: string | undefined;
  /** A portal whose description was asked for by the last message: when it is executed next, its result describes itself. */
  #described: { readonly name: string; readonly portal: Portal } | undefined;

  constructor(parts: SeriesParts) {
    this.#parts = parts;
    this.#kept = new Kept(parts.maxMessageBytes * keptMessagesMax);
  }

  parse({ statement, sql, types }: MessageOf<"parse">): Failure | undefined {
    const refused = this.#kept.admitStatement(statement, sql);
    if (refused !== undefined) return failure(refused);
    const prepared = preparedOf(sql, types);
    if (!prepared.ok) return failure(prepared.error, { sql });
    this.#kept.putStatement(statement, prepared.value);
    this.#parts.out.put({ kind: "parseComplete" });
    return undefined;
  }

  async bind(message: MessageOf<"bind">): Promise<Failure | undefined> {
    const { portal, statement, values, resultFormats } = message;
    const found = this.#kept.statement(statement);
    if (!found.ok) return failure(found.error);
    const prepared = found.value;
    const bytes = values.reduce((sum, value) => sum + (value?.length ?? 0) + valueBytes, 0);
    const refused = await this.#kept.admitPortal(portal, bytes);
    if (refused !== undefined) return failure(refused);
    const parameters = await this.#parametersOf(prepared, message);
    if (!parameters.ok) return failure(parameters.error, placeOf(prepared));
    this.#kept.putPortal(portal, {
      prepared,
      parameters: parameters.value,
      formats: resultFormats,
      bytes,
      execution: undefined,
    });
    this.#parts.out.put({ kind: "bindComplete" });
    return undefined;
  }

  async describe({ target, name }: MessageOf<"describe">): Promise<Failure | undefined> {
    return target === "statement"
      ? await this.#describeStatement(name)
      : this.#describePortal(name);
  }

  /** A description waits for the next message. */
  get waiting(): boolean {
    return this.#described !== undefined;
  }

  /**
   * Answers a description of a portal that waits for its result. Called before every message but the
   * execution of that portal.
   */
  async settle(next: FrontendMessage): Promise<Failure | undefined> {
    const described = this.#described;
    if (described === undefined) return undefined;
    if (next.kind === "execute" && next.portal === described.name) return undefined;
    this.#described = undefined;
    const { portal } = described;
    const answer = await this.#descriptionOf(portal.prepared);
    if (!answer.ok) return failure(answer.error, placeOf(portal.prepared));
    return this.#putColumns(answer.value.columns, portal);
  }

  async execute({ portal: name, maxRows }: MessageOf<"execute">): Promise<Failure | undefined> {
    const { out } = this.#parts;
    const found = this.#kept.portal(name);
    if (!found.ok) return failure(found.error);
    const portal = found.value;
    const announce = this.#described?.portal === portal ? "rowsOrNone" : "no";
    this.#described = undefined;
    const { kind } = portal.prepared;
    if (kind.kind === "empty") {
      if (announce !== "no") out.put({ kind: "noData" });
      out.put({ kind: "emptyQuery" });
      return undefined;
    }
    const state = portal.execution?.state ?? "fresh";
    if (state !== "fresh" && state !== "parked") return this.#executeAgain(name, portal);
    // The end of a transaction ends its cursors; parked ones would keep its connection busy.
    if (kind.kind === "transaction" && kind.ends) await this.#kept.dropPortals(name);
    this.#running = name;
    const failed = await this.#step(portal, maxRows, announce);
    this.#running = undefined;
    return failed;
  }

  async close({ target, name }: MessageOf<"close">): Promise<void> {
    if (target === "statement") this.#kept.dropStatement(name);
    else await this.#kept.dropPortal(name);
    this.#parts.out.put({ kind: "closeComplete" });
  }

  /** The end of a series: outside of a transaction no portal outlives it. */
  async sync(): Promise<void> {
    if (this.#parts.session.pin === undefined) await this.end();
  }

  /** A simple query drops what has no name. */
  async dropUnnamed(): Promise<void> {
    this.#kept.dropStatement("");
    await this.#kept.dropPortal("");
  }

  /** DEALLOCATE and DISCARD ALL. */
  async forget(what: Forget): Promise<GatewayError | undefined> {
    if (what.kind === "statement") {
      const found = this.#kept.statement(what.name);
      if (!found.ok) return found.error;
      this.#kept.dropStatement(what.name);
      return undefined;
    }
    this.#kept.dropStatements();
    if (what.kind === "everything") await this.#kept.dropPortals(this.#running);
    return undefined;
  }

  /** Ends everything that is parked. */
  async end(): Promise<void> {
    if (this.#kept.portalCount > 0) await this.#kept.dropPortals();
  }

  async #describeStatement(name: string): Promise<Failure | undefined> {
    const { out } = this.#parts;
    const found = this.#kept.statement(name);
    if (!found.ok) return failure(found.error);
    const prepared = found.value;
    const described = await this.#descriptionOf(prepared);
    if (!described.ok) return failure(described.error, placeOf(prepared));
    const { parameters, columns } = described.value;
    const count = Math.max(parameters.length, prepared.types.length);
    const types = Array.from({ length: count }, (_, index) =>
      parameterOid(prepared, parameters, index),
    );
    out.put({ kind: "parameterDescription", types });
    if (columns.length === 0) out.put({ kind: "noData" });
    else out.put({ kind: "rowDescription", fields: rowFields(columns, []) });
    return undefined;
  }

  #describePortal(name: string): Failure | undefined {
    const found = this.#kept.portal(name);
    if (!found.ok) return failure(found.error);
    const portal = found.value;
    const known = portal.execution?.columns ?? knownColumns(portal.prepared);
    if (known !== undefined) return this.#putColumns(known, portal);
    this.#described = { name, portal };
    return undefined;
  }

  #putColumns(columns: readonly Column[], portal: Portal): Failure | undefined {
    const { out } = this.#parts;
    if (columns.length === 0) {
      out.put({ kind: "noData" });
      return undefined;
    }
    const formats = formatsFor(portal.formats, columns);
    if (formats === undefined) {
      return failure(formatCountError(portal.formats.length, columns.length));
    }
    out.put({ kind: "rowDescription", fields: rowFields(columns, formats) });
    return undefined;
  }

  async #step(
    portal: Portal,
    maxRows: number,
    announce: "no" | "rowsOrNone",
  ): Promise<Failure | undefined> {
    const { out, runner, session } = this.#parts;
    const { prepared, parameters, formats } = portal;
    portal.execution ??= runner.prepare({
      statement: prepared,
      parameters,
      formats,
      promised: announce === "no" ? promisedColumns(prepared) : undefined,
    });
    const stop = await runner.step(portal.execution, maxRows, announce);
    if (mayChangeTypes(prepared)) this.#memory.forgetAll();
    if (stop.kind === "suspended") out.put({ kind: "portalSuspended" });
    if (stop.kind !== "failed") return undefined;
    // What was known of it may be what was wrong.
    prepared.description = undefined;
    this.#memory.forget(prepared);
    const { queryId } = portal.execution.plan;
    if (session.pin === undefined) await this.end();
    return failure(stop.error, placeOf(prepared, queryId));
  }

  /** A portal that is complete gives no more rows; one without rows, or that failed, can not be run again. */
  #executeAgain(name: string, { execution }: Portal): Failure | undefined {
    if (execution?.state === "abandoned") return failure(gatewayError("query.abandoned"));
    if (execution?.state === "complete" && execution.columns !== undefined) {
      this.#parts.out.put({ kind: "commandComplete", tag: "SELECT 0" });
      return undefined;
    }
    const message = `portal "${name}" cannot be run`;
    return failure(gatewayError("query.invalid", { sqlState: "55000", message }));
  }

  async #parametersOf(
    prepared: Prepared,
    message: MessageOf<"bind">,
  ): Promise<Result<readonly Parameter[], GatewayError>> {
    const { values, formats } = message;
    const types = await this.#typesOf(prepared, values.length);
    if (!types.ok) return types;
    const wanted = Math.max(types.value.length, prepared.types.length);
    if (wanted !== values.length) {
      this.#memory.forget(prepared);
      return err(parameterCountError(wanted, message));
    }
    const { zone } = this.#parts.session;
    const parameters: Parameter[] = [];
    for (const [index, value] of values.entries()) {
      const format = (formats.length === 1 ? formats[0] : formats[index]) ?? 0;
      const type = parameterType(prepared, types.value, index);
      const read = readParameter(value, format, type, { number: index + 1, zone });
      if (!read.ok) {
        this.#memory.forget(prepared);
        return read;
      }
      parameters.push(read.value);
    }
    return ok(parameters);
  }

  /** What the engine says of the parameters, asked only where the client left a type open. */
  async #typesOf(
    prepared: Prepared,
    count: number,
  ): Promise<Result<readonly DataType[], GatewayError>> {
    const known = prepared.description?.parameters ?? this.#memory.get(prepared);
    if (known !== undefined) return ok(known);
    if (!leavesTypesOpen(prepared, count)) return ok([]);
    const described = await this.#descriptionOf(prepared);
    if (!described.ok) return described;
    this.#memory.put(prepared, described.value.parameters);
    return ok(described.value.parameters);
  }

  async #descriptionOf(prepared: Prepared): Promise<Result<Description, GatewayError>> {
    if (prepared.description !== undefined) return ok(prepared.description);
    const columns = knownColumns(prepared);
    if (columns !== undefined) return ok({ parameters: [], columns });
    const described = await this.#parts.runner.describe(prepared.sql, declaredNulls(prepared));
    if (described.ok) prepared.description = described.value;
    return described;
  }
}

/** What a value costs beside its bytes. */
const valueBytes = 8;

function failure(error: GatewayError, place: ErrorPlace = {}): Failure {
  return { error, place };
}

function placeOf(prepared: Prepared, queryId?: string): ErrorPlace {
  const place = { sql: prepared.text, statementStart: prepared.start };
  return queryId === undefined ? place : { ...place, queryId };
}

function parameterCountError(wanted: number, { statement, values }: MessageOf<"bind">) {
  const message = `bind message supplies ${values.length} parameters, but prepared statement "${statement}" requires ${wanted}`;
  return gatewayError("query.parameters", { sqlState: "08P01", message });
}
