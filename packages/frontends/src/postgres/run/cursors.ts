/**
 * SQL cursors of one connection: DECLARE makes a portal with a name, FETCH and MOVE step it, CLOSE drops it.
 * Cursors and the protocol's portals share their names, so that both can reach each of them.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Column, Parameter } from "@gateway/core/type/type.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import type { Describe } from "./binding.ts";
import type { ClientSession } from "../session/clientSession.ts";
import { forwardOnly, type CursorStatement } from "../read/cursorStatement.ts";
import type { Stop } from "./execution/step.ts";
import type { Announce } from "./execution/resultWriter.ts";
import type { NamedObjects, Portal } from "./namedObjects.ts";
import { localColumns } from "../commands/localAnswer.ts";
import type { Outbox } from "../outbox.ts";
import { formatsFor, rowFields } from "../value/rows.ts";
import { formatCountError } from "./described.ts";
import type { Executor } from "./executor.ts";
import { preparedOf, type Prepared, type StatementReader } from "../read/statement.ts";

type Fetch = Extract<CursorStatement, { kind: "fetch" }>;

export interface CursorParts {
  readonly named: NamedObjects;
  readonly session: ClientSession;
  readonly out: Outbox;
  readonly executor: Executor;
  readonly describe: Describe;
  readonly read: StatementReader;
}

/** How the rows of a FETCH are wanted. */
export interface FetchForm {
  /** As in a Bind message; undefined leaves it to the cursor. */
  readonly formats: readonly Format[] | undefined;
  readonly announce: Announce;
}

export class Cursors {
  readonly #parts: CursorParts;

  constructor(parts: CursorParts) {
    this.#parts = parts;
  }

  /** DECLARE. The query is checked now and runs with the first FETCH. */
  async declare(prepared: Prepared, parameters: readonly Parameter[]): Promise<Stop> {
    const { named, session } = this.#parts;
    const { kind } = prepared;
    if (kind.kind !== "declare") throw new Error("not a DECLARE");
    if (session.status === "E") return failed(gatewayError("query.transactionAborted"));
    if (session.pin === undefined) {
      const message = "DECLARE CURSOR can only be used in transaction blocks";
      return failed(gatewayError("query.transaction", { sqlState: "25P01", message }));
    }
    const bytes = prepared.text.length * 2;
    const refused = await named.admitPortal(kind.name, bytes);
    if (refused !== undefined) return failed(refused);
    const query: Prepared = { ...prepared, kind: { kind: "query" } };
    const formats: readonly Format[] = kind.binary ? [1] : [];
    const portal: Portal = { prepared: query, parameters, formats, bytes, execution: undefined };
    const wrong = await this.#look(portal);
    if (wrong !== undefined) return wrong;
    named.putPortal(kind.name, portal);
    return { kind: "complete", rows: 0, tag: "DECLARE CURSOR" };
  }

  /** Answers what is wrong with the query. Where the engine can not describe it, it begins now. */
  async #look(portal: Portal): Promise<Stop | undefined> {
    const { describe, executor } = this.#parts;
    const { prepared, parameters, formats } = portal;
    const described = await describe(prepared);
    if (described.ok) return undefined;
    if (described.error.code !== "query.unsupported") return failed(described.error);
    const order = { statement: prepared, parameters, formats, promised: undefined };
    portal.execution = executor.prepare(order);
    const wish = { maxRows: 0, announce: "no", columnsOnly: true } as const;
    const stop = await executor.step(portal.execution, wish);
    return stop.kind === "failed" ? stop : undefined;
  }

  /** FETCH, MOVE or CLOSE. */
  async run(cursor: CursorStatement, form: FetchForm): Promise<Stop> {
    const { named, session } = this.#parts;
    if (session.status === "E") return failed(gatewayError("query.transactionAborted"));
    if (cursor.kind === "fetch") return await this.#fetch(cursor, form);
    if (cursor.name === undefined) {
      await named.dropPortals();
      return { kind: "complete", rows: 0, tag: "CLOSE CURSOR ALL" };
    }
    const found = named.cursor(cursor.name);
    if (!found.ok) return failed(found.error);
    await named.dropPortal(cursor.name);
    return { kind: "complete", rows: 0, tag: "CLOSE CURSOR" };
  }

  /**
   * The protocol's Close, which says nothing of a name that nobody has. A cursor that a text declared is the server's
   * where statements are relayed.
   */
  async closePortal(name: string): Promise<GatewayError | undefined> {
    const { named, session, read, describe, executor } = this.#parts;
    if (name === "" || named.cursor(name).ok || session.status !== "T") {
      await named.dropPortal(name);
      return undefined;
    }
    const quoted = `"${name.replaceAll('"', '""')}"`;
    const fetch = preparedOf(`FETCH 0 FROM ${quoted}`, [], read);
    const close = preparedOf(`CLOSE ${quoted}`, [], read);
    if (!fetch.ok || !close.ok || fetch.value.relayed !== true) return undefined;
    // A server describes a FETCH of no cursor as one without columns; its CLOSE would end the transaction.
    const described = await describe(fetch.value);
    if (!described.ok) return described.error;
    if (described.value.columns.length === 0) return undefined;
    const order = { statement: close.value, parameters: [], formats: [], promised: undefined };
    const stop = await executor.step(executor.prepare(order), { maxRows: 0, announce: "no" });
    return stop.kind === "failed" ? stop.error : undefined;
  }

  /** True for a statement over a portal that the client bound: no server knows that. */
  knows(cursor: CursorStatement): boolean {
    return cursor.name !== undefined && this.#parts.named.cursor(cursor.name).ok;
  }

  /** True for a FETCH that is prepared before its cursor is declared: PostgreSQL describes it as NoData. */
  declaredLater({ kind }: Prepared): boolean {
    if (kind.kind !== "cursor" || kind.cursor.kind !== "fetch") return false;
    return !this.#parts.named.cursor(kind.cursor.name).ok;
  }

  /** Columns that a FETCH will give, for a client that asks beforehand. */
  async columnsOf({ name }: Fetch): Promise<Result<readonly Column[], GatewayError>> {
    const found = this.#parts.named.cursor(name);
    if (!found.ok) return found;
    const { execution, prepared } = found.value;
    if (execution?.columns !== undefined) return ok(execution.columns);
    const described = await this.#parts.describe(prepared);
    return described.ok ? ok(described.value.columns) : err(described.error);
  }

  async #fetch(fetch: Fetch, { formats, announce }: FetchForm): Promise<Stop> {
    const { named, executor, out } = this.#parts;
    const found = named.cursor(fetch.name);
    if (!found.ok) return failed(found.error);
    const portal = found.value;
    if (!givesRows(portal)) return failed(withoutRows(fetch.name));
    const columns = await this.columnsOf(fetch);
    if (!columns.ok) return failed(columns.error);
    const asked = formats ?? portal.formats;
    const wrong = this.#announce(columns.value, asked, fetch.shown ? announce : "no");
    if (wrong !== undefined) return failed(wrong);
    if (!fetch.shown && announce === "rowsOrNone") out.put({ kind: "noData" });
    const word = fetch.shown ? "FETCH" : "MOVE";
    const state = portal.execution?.state ?? "fresh";
    if (fetch.count === 0 && state === "parked") return failed(forwardOnly());
    if (state === "abandoned") return failed(gatewayError("query.abandoned"));
    // A result that broke off must never look complete.
    if (state === "failed") return failed(brokenCursor(fetch.name));
    if (fetch.count === 0 || state === "complete")
      return { kind: "complete", rows: 0, tag: `${word} 0` };
    const stop = await executor.step(this.#executionOf(portal, columns.value, asked), {
      maxRows: Number.isFinite(fetch.count) ? fetch.count : 0,
      announce: "no",
      formats: asked,
      silent: !fetch.shown,
    });
    if (stop.kind === "failed") return stop;
    return { kind: "complete", rows: stop.rows, tag: `${word} ${stop.rows}` };
  }

  #executionOf(portal: Portal, columns: readonly Column[], formats: readonly Format[]) {
    const { prepared, parameters, call } = portal;
    return (portal.execution ??= this.#parts.executor.prepare({
      statement: prepared,
      parameters,
      call,
      formats,
      promised: columns,
    }));
  }

  #announce(
    columns: readonly Column[],
    asked: readonly Format[],
    announce: Announce,
  ): GatewayError | undefined {
    const formats = formatsFor(asked, columns);
    if (formats === undefined) return formatCountError(asked.length, columns.length);
    if (announce === "no") return undefined;
    this.#parts.out.put({ kind: "rowDescription", fields: rowFields(columns, formats) });
    return undefined;
  }
}

/** A portal of the protocol may be of any statement. What ends portals, as DISCARD ALL, would wait for itself here. */
function givesRows({ prepared }: Portal): boolean {
  const { kind } = prepared;
  if (kind.kind === "local") return localColumns(kind.local) !== undefined;
  return kind.kind === "query";
}

function withoutRows(name: string): GatewayError {
  const message = `portal "${name}" is of a statement without rows`;
  return gatewayError("query.invalid", { sqlState: "55000", message });
}

function brokenCursor(name: string): GatewayError {
  const message = `portal "${name}" cannot be run`;
  return gatewayError("query.invalid", { sqlState: "55000", message });
}

function failed(error: GatewayError): Stop {
  return { kind: "failed", error };
}
