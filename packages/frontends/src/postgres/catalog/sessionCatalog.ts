/**
 * Catalog statements of one connection: asks the mirror as this session, and turns its answer into events, so
 * that it is written like every other result.
 *
 * Cells are the bytes that PostgreSQL made in the format the client asked for. They travel as text
 * vectors, which are copied as they are, beside columns that carry their PostgreSQL type.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { decodeText } from "@gateway/wire/text.ts";
import type { Format, FrontendMessage } from "@gateway/wire/postgres/message.ts";
import type { ClientSession } from "../session/clientSession.ts";
import { entriesOf, schemaFrom } from "../session/searchPath.ts";
import type { Prepared, ReadStatement } from "../read/statement.ts";
import type { CatalogColumn } from "../value/types.ts";
import type { MirrorOutcome } from "./link.ts";
import type {
  MirrorColumn,
  MirrorCommand,
  MirrorError,
  MirrorRows,
  MirrorSession,
  MirrorValue,
} from "./message.ts";
import { statementMsMax } from "./mirror.ts";
import type { Mirrors } from "./mirrors.ts";

const text: DataType = { kind: "text" };
const bytes: DataType = { kind: "binary" };

/** Statements that may change which tables there are. */
const changing: ReadonlySet<string> = new Set(["CREATE", "DROP", "ALTER", "ATTACH", "DETACH"]);

export class SessionCatalog {
  readonly #mirrors: Mirrors;
  readonly #session: ClientSession;
  readonly #process: number;
  /** The open transaction changed tables, which others see after its COMMIT. */
  #changed = false;
  /** Every engine that the session may reach is a PostgreSQL; undefined before somebody asked. */
  #reachesPostgres: boolean | undefined;

  constructor(mirrors: Mirrors, session: ClientSession, process: number) {
    this.#mirrors = mirrors;
    this.#session = session;
    this.#process = process;
  }

  /**
   * True for a statement that is answered here. A PostgreSQL itself is asked what only an engine knows, and by
   * `auto` also what there is: it has each definition, default and type, and what the open transaction made.
   */
  takes({ kind }: ReadStatement): boolean {
    if (kind.kind !== "query" || kind.catalog === undefined) return false;
    const { mode } = this.#mirrors;
    if (mode === "backend") return false;
    if (mode === "off" || kind.catalog === "session") return true;
    if (mode === "mirror" && kind.catalog === "names") return true;
    // A portal's values are read for who answers it, so that never changes.
    this.#reachesPostgres ??= this.#mirrors.reachesPostgres(this.#session.value);
    return !this.#reachesPostgres;
  }

  /** Called with the command tag of every statement that succeeded. */
  completed(tag: string): void {
    if (tag.startsWith("SELECT ")) return;
    const end = tag.indexOf(" ");
    const word = end < 0 ? tag : tag.slice(0, end);
    const now = changing.has(word);
    if (now || (word === "COMMIT" && this.#changed)) this.#mirrors.changed();
    if (now || word === "COMMIT") this.#changed = now;
  }

  async *run(
    { sql, types = [] }: { readonly sql: string; readonly types?: readonly number[] },
    values: readonly MirrorValue[],
    { formats, signal }: { readonly formats: readonly Format[]; readonly signal: AbortSignal },
  ): ResultStream {
    const answered = await this.#ask(
      (session) => ({ kind: "run", sql, types, session, values, formats }),
      sql,
      signal,
    );
    if (!answered.ok) {
      yield { kind: "failed", error: answered.error };
      return;
    }
    if (answered.value.kind !== "rows") throw new Error("a mirror answers a run with rows");
    const { result } = answered.value;
    yield { kind: "columns", columns: result.columns.map(columnOf) };
    if (result.rows > 0) yield { kind: "batch", batch: batchOf(result) };
    yield { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: result.rows, bytes: 0 } };
  }

  /** Describes a prepared statement, which gets the types of its parameters from the answer. */
  async describe(
    prepared: Prepared,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    const { sql, types } = prepared;
    const answered = await this.#ask(
      (session) => ({ kind: "describe", sql, types, session }),
      sql,
      signal,
    );
    if (!answered.ok) return answered;
    if (answered.value.kind !== "described") throw new Error("a mirror describes when asked to");
    const { description } = answered.value;
    prepared.types = description.types;
    return ok({
      parameters: description.types.map(() => text),
      columns: description.columns.map(columnOf),
    });
  }

  async #ask(
    commandFor: (session: MirrorSession) => MirrorCommand,
    sql: string,
    signal: AbortSignal,
  ): Promise<Result<MirrorOutcome, GatewayError>> {
    if (this.#mirrors.mode === "off") return err(gatewayError("query.unsupported", offRefusal));
    if (this.#session.status === "E") return err(gatewayError("query.transactionAborted"));
    const asked = (schema: string | undefined): MirrorCommand => commandFor(this.#seenIn(schema));
    const { value } = this.#session;
    const first = await this.#mirrors.ask(value, asked, { signal });
    const again = first.ok && isUnknownName(first.value);
    // A name that is unknown may be newer than the last listing.
    const outcome = again ? await this.#mirrors.ask(value, asked, { signal, relist: true }) : first;
    return outcome.ok ? judged(outcome.value, sql) : outcome;
  }

  /** What a statement sees of this session; `schema` is what bare names mean to the backend. */
  #seenIn(schema: string | undefined): MirrorSession {
    const session = this.#session;
    return {
      user: session.value.identity.user,
      searchPath: searchPathIn(session.setting("search_path"), schema),
      shownPath: session.setting("search_path"),
      timeZone: session.setting("timezone"),
      applicationName: session.setting("application_name"),
      process: this.#process,
    };
  }
}

const offRefusal = {
  message: "catalogs are turned off on this gateway (gateway.frontends.postgresWire.catalog)",
};

/** The client's path where it names a schema; otherwise the backend's schema of bare names comes first. */
function searchPathIn(path: string, schema: string | undefined): string {
  const named = schemaFrom(path) !== undefined || schema === undefined;
  const entries = named ? entriesOf(path) : [schema, ...entriesOf(path)];
  // In quotes, because a bare word like `default` is no name.
  return entries.length === 0 ? "''" : entries.map(quotedName).join(", ");
}

function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Values of a Bind message as they are: PostgreSQL itself reads them. */
export function rawParameters({
  values,
  formats,
}: Extract<FrontendMessage, { kind: "bind" }>): Result<readonly Parameter[], GatewayError> {
  const parameters: Parameter[] = [];
  for (const [index, value] of values.entries()) {
    const format = (formats.length === 1 ? formats[0] : formats[index]) ?? 0;
    const read = value === undefined ? null : format === 1 ? value : decodeText(value);
    if (read === undefined) {
      const message = `parameter $${index + 1} is not valid UTF-8`;
      return err(gatewayError("query.data", { sqlState: "22021", message }));
    }
    parameters.push({ type: format === 1 ? bytes : text, value: read });
  }
  return ok(parameters);
}

/** What `rawParameters` made, as the mirror takes it. */
export function mirrorValues(parameters: readonly Parameter[]): readonly MirrorValue[] {
  return parameters.map(({ value }) => {
    if (value === null || typeof value === "string" || value instanceof Uint8Array) return value;
    throw new Error("a catalog statement's parameters are kept as they came");
  });
}

function isUnknownName(outcome: MirrorOutcome): boolean {
  return outcome.kind === "refused" && /^(?:42P01|3F000)$/.test(outcome.error.sqlState);
}

function judged(outcome: MirrorOutcome, sql: string): Result<MirrorOutcome, GatewayError> {
  switch (outcome.kind) {
    case "refused":
      return err(refusalOf(outcome.error, sql));
    case "touched":
      return err(gatewayError("query.unsupported", { message: touchedText }));
    case "tooLarge":
      return err(gatewayError("query.tooManyRows", { message: tooLargeText }));
    case "lost":
      return err(lostError(outcome.code));
    case "filled":
    case "described":
    case "rows":
      return ok(outcome);
  }
}

const touchedText = "a statement over catalogs can not read tables as well";
const tooLargeText = "the result of a statement over catalogs is too large";

function lostError(code: string): GatewayError {
  return code === "timeout"
    ? gatewayError("query.timeout", {
        message: `canceling statement over catalogs after ${statementMsMax / 1000} s`,
      })
    : gatewayError("engine.failed", { message: "the mirror of the catalogs ended unexpectedly" });
}

/** PostgreSQL's own error about the client's own text. */
function refusalOf({ sqlState, message, position, hint }: MirrorError, sql: string): GatewayError {
  return gatewayError("query.invalid", {
    sqlState,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(position === undefined ? {} : { position: unitsOf(sql, position) }),
  });
}

/** PostgreSQL counts characters from 1; errors count UTF-16 units. */
function unitsOf(sql: string, position: number): number {
  let units = 1;
  let left = position - 1;
  for (const character of sql) {
    if (left <= 0) break;
    units += character.length;
    left -= 1;
  }
  return units;
}

function columnOf({ name, ...announced }: MirrorColumn): CatalogColumn {
  return { name, type: text, nullable: true, announced };
}

function batchOf({ rows, vectors }: MirrorRows): Batch {
  return {
    form: "columnar",
    rows,
    columns: vectors.map((vector) => ({
      ...vector,
      type: text,
      length: rows,
      offset: 0,
      children: [],
    })),
  };
}
