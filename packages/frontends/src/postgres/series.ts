/**
 * The extended protocol of one connection: prepared statements, portals, and the messages over them.
 *
 * Each method answers a failure as a value; what then happens to the rest of the series is in
 * `machine.ts`. Names and values a client leaves here are counted and limited.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Description } from "@gateway/core/query/event.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Column, Parameter } from "@gateway/core/type/type.ts";
import type { FrontendMessage } from "@gateway/wire/postgres/message.ts";
import type { ClientSession } from "./clientSession.ts";
import type { ErrorPlace } from "./errors.ts";
import { formatCountError } from "./execution.ts";
import { localColumns, type Forget } from "./localAnswer.ts";
import type { Outbox } from "./outbox.ts";
import { readParameter, untyped, type ParameterType } from "./parameter.ts";
import { formatsFor, rowFields } from "./rows.ts";
import type { Runner } from "./runner.ts";
import { preparedOf, type Portal, type Prepared } from "./statement.ts";
import { columnShape, parameterShape } from "./types.ts";

/** A step that failed, and where to point at. */
export interface Failure {
  readonly error: GatewayError;
  readonly place: ErrorPlace;
}

type MessageOf<Kind extends FrontendMessage["kind"]> = Extract<FrontendMessage, { kind: Kind }>;

/** Names one connection may keep. */
const statementsMax = 5000;
const portalsMax = 500;
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
  readonly #statements = new Map<string, Prepared>();
  readonly #portals = new Map<string, Portal>();
  #keptBytes = 0;
  /** The portal that is stepping now: it can not be ended from inside its own statement. */
  #running: string | undefined;
  /** A portal whose description was asked for by the last message: when it is executed next, its result describes itself. */
  #described: { readonly name: string; readonly portal: Portal } | undefined;

  constructor(parts: SeriesParts) {
    this.#parts = parts;
  }

  parse({ statement, sql, types }: MessageOf<"parse">): Failure | undefined {
    if (statement !== "" && this.#statements.has(statement)) {
      const message = `prepared statement "${statement}" already exists`;
      return failure(gatewayError("query.invalid", { sqlState: "42P05", message }));
    }
    this.#dropStatement("");
    const bytes = sql.length * 2;
    if (this.#statements.size >= statementsMax || this.#tooMuch(bytes))
      return failure(tooManyKept());
    const prepared = preparedOf(sql, types);
    if (!prepared.ok) return { error: prepared.error, place: { sql } };
    this.#statements.set(statement, prepared.value);
    this.#keptBytes += bytes;
    this.#parts.out.put({ kind: "parseComplete" });
    return undefined;
  }

  async bind(message: MessageOf<"bind">): Promise<Failure | undefined> {
    const prepared = this.#statements.get(message.statement);
    if (prepared === undefined) return failure(unknownStatement(message.statement));
    if (message.portal === "") await this.#dropPortal("");
    if (this.#portals.has(message.portal)) {
      const text = `cursor "${message.portal}" already exists`;
      return failure(gatewayError("query.invalid", { sqlState: "42P03", message: text }));
    }
    const bytes = message.values.reduce((sum, value) => sum + (value?.length ?? 0) + 8, 0);
    if (this.#portals.size >= portalsMax || this.#tooMuch(bytes)) return failure(tooManyKept());

    const parameters = await this.#parametersOf(prepared, message);
    if (!parameters.ok) return { error: parameters.error, place: placeOf(prepared) };
    this.#portals.set(message.portal, {
      prepared,
      parameters: parameters.value,
      formats: message.resultFormats,
      bytes,
      execution: undefined,
    });
    this.#keptBytes += bytes;
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
  async settle(next: FrontendMessage | undefined): Promise<Failure | undefined> {
    const described = this.#described;
    if (described === undefined) return undefined;
    if (next?.kind === "execute" && next.portal === described.name) return undefined;
    this.#described = undefined;
    const { prepared } = described.portal;
    const columns = await this.#columnsOf(prepared);
    if (!columns.ok) return { error: columns.error, place: placeOf(prepared) };
    return this.#putColumns(columns.value, described.portal);
  }

  async execute({ portal: name, maxRows }: MessageOf<"execute">): Promise<Failure | undefined> {
    const { out, runner, session } = this.#parts;
    const portal = this.#portals.get(name);
    if (portal === undefined) return failure(unknownPortal(name));
    const announce = this.#described?.portal === portal ? "rowsOrNone" : "no";
    this.#described = undefined;
    const { prepared } = portal;
    if (prepared.kind.kind === "empty") {
      if (announce !== "no") out.put({ kind: "noData" });
      out.put({ kind: "emptyQuery" });
      return undefined;
    }
    const state = portal.execution?.state ?? "fresh";
    if (state !== "fresh" && state !== "parked") return this.#executeAgain(name, portal);
    // The end of a transaction ends its cursors; parked ones would keep its connection busy.
    if (prepared.kind.kind === "transaction" && prepared.kind.ends) await this.#dropPortals(name);

    portal.execution ??= runner.prepare({
      statement: prepared,
      parameters: portal.parameters,
      formats: portal.formats,
      promised: announce === "no" ? promisedOf(prepared) : undefined,
    });
    this.#running = name;
    const stop = await runner.step(portal.execution, maxRows, announce);
    this.#running = undefined;
    if (stop.kind === "suspended") out.put({ kind: "portalSuspended" });
    if (stop.kind !== "failed") return undefined;
    // What the description said may be what was wrong.
    prepared.description = undefined;
    if (session.pin === undefined) await this.#dropPortals();
    const { queryId } = portal.execution.plan;
    return { error: stop.error, place: placeOf(prepared, queryId) };
  }

  async close({ target, name }: MessageOf<"close">): Promise<void> {
    if (target === "statement") this.#dropStatement(name);
    else await this.#dropPortal(name);
    this.#parts.out.put({ kind: "closeComplete" });
  }

  /** The end of a series: outside of a transaction no portal outlives it. */
  async sync(): Promise<void> {
    if (this.#parts.session.pin === undefined && this.#portals.size > 0) await this.#dropPortals();
  }

  /** A simple query drops what has no name. */
  async dropUnnamed(): Promise<void> {
    this.#dropStatement("");
    await this.#dropPortal("");
  }

  /** DEALLOCATE and DISCARD ALL. */
  async forget(what: Forget): Promise<GatewayError | undefined> {
    if (what.kind === "statement") {
      if (!this.#statements.has(what.name)) return unknownStatement(what.name);
      this.#dropStatement(what.name);
      return undefined;
    }
    for (const name of this.#statements.keys()) this.#dropStatement(name);
    if (what.kind === "everything") await this.#dropPortals(this.#running);
    return undefined;
  }

  /** Ends everything that is parked. The series is not used afterwards. */
  async end(): Promise<void> {
    await this.#dropPortals();
  }

  async #describeStatement(name: string): Promise<Failure | undefined> {
    const { out } = this.#parts;
    const prepared = this.#statements.get(name);
    if (prepared === undefined) return failure(unknownStatement(name));
    const described = await this.#descriptionOf(prepared);
    if (!described.ok) return { error: described.error, place: placeOf(prepared) };
    const { parameters, columns } = described.value;
    const count = Math.max(parameters.length, prepared.types.length);
    const types = Array.from({ length: count }, (_, index) => {
      const { oid } = typeOf(prepared, described.value, index);
      return oid === 0 ? columnShape(untyped.type).oid : oid;
    });
    out.put({ kind: "parameterDescription", types });
    if (columns.length === 0) out.put({ kind: "noData" });
    else out.put({ kind: "rowDescription", fields: rowFields(columns, []) });
    return undefined;
  }

  #describePortal(name: string): Failure | undefined {
    const portal = this.#portals.get(name);
    if (portal === undefined) return failure(unknownPortal(name));
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
    const open = values.some((_, index) => (prepared.types[index] ?? 0) === 0);
    let description = prepared.description;
    if (open) {
      const described = await this.#descriptionOf(prepared);
      if (!described.ok) return described;
      description = described.value;
    }
    const wanted = Math.max(description?.parameters.length ?? 0, prepared.types.length);
    if (wanted !== values.length) return err(parameterCountError(values.length, wanted, message));
    const parameters: Parameter[] = [];
    for (const [index, value] of values.entries()) {
      const format = (formats.length === 1 ? formats[0] : formats[index]) ?? 0;
      const type = typeOf(prepared, description, index);
      const { zone } = this.#parts.session;
      const read = readParameter(value, format, type, { number: index + 1, zone });
      if (!read.ok) return read;
      parameters.push(read.value);
    }
    return ok(parameters);
  }

  async #columnsOf(prepared: Prepared): Promise<Result<readonly Column[], GatewayError>> {
    const known = knownColumns(prepared);
    if (known !== undefined) return ok(known);
    const described = await this.#descriptionOf(prepared);
    return described.ok ? ok(described.value.columns) : described;
  }

  async #descriptionOf(prepared: Prepared): Promise<Result<Description, GatewayError>> {
    if (prepared.description !== undefined) return ok(prepared.description);
    const columns = knownColumns(prepared);
    if (columns !== undefined) return ok({ parameters: [], columns });
    const described = await this.#parts.runner.describe(prepared.sql, declaredNulls(prepared));
    if (described.ok) prepared.description = described.value;
    return described;
  }

  #tooMuch(bytes: number): boolean {
    return this.#keptBytes + bytes > this.#parts.maxMessageBytes * keptMessagesMax;
  }

  #dropStatement(name: string): void {
    const prepared = this.#statements.get(name);
    if (prepared === undefined) return;
    this.#statements.delete(name);
    this.#keptBytes -= prepared.text.length * 2;
  }

  async #dropPortal(name: string): Promise<void> {
    const portal = this.#portals.get(name);
    if (portal === undefined) return;
    this.#portals.delete(name);
    this.#keptBytes -= portal.bytes;
    if (this.#described?.portal === portal) this.#described = undefined;
    await portal.execution?.[Symbol.asyncDispose]();
  }

  async #dropPortals(except?: string): Promise<void> {
    for (const name of this.#portals.keys()) {
      if (name !== except) await this.#dropPortal(name);
    }
  }
}
