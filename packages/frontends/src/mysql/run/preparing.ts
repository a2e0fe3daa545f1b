/**
 * COM_STMT_PREPARE and COM_STMT_EXECUTE: places become `$1`, `$2`, …, the engine describes the
 * statement, and an execution brings typed values.
 *
 * Statements that the frontend answers itself are prepared without the engine and answered anew at
 * each execution.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Description } from "@gateway/core/query/event.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { findPlaces, rewritePlaces, type PlacesError } from "@gateway/core/sql/rewrite/places.ts";
import { splitStatements } from "@gateway/core/sql/lex/split.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import type { Column, Parameter } from "@gateway/core/type/type.ts";
import type { Execute } from "@gateway/wire/mysql/command.ts";
import { parseExecute, type BoundParameters } from "@gateway/wire/mysql/execute.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { AnswerForm, Conversation } from "./conversation.ts";
import { putPreparedPackets } from "../encode.ts";
import { errorReply, ownErrors } from "../errors.ts";
import { forwardedDialect, forwardedSql } from "../read/forward.ts";
import { forwardedStatement } from "../read/reading.ts";
import { preparedMax } from "../limits.ts";
import type { LocalAnswer } from "../commands/answer.ts";
import type { CatalogSql } from "../catalog/informationSchema.ts";
import { parameterOf } from "../value/parameters.ts";
import type { PreparedStatement, PreparedStatements } from "./prepared.ts";
import { runStatement, type BoundStatement } from "./statement.ts";
import { textOf } from "./text.ts";

export interface PreparedParts {
  readonly talk: Conversation;
  readonly prepared: PreparedStatements;
  answerLocally(sql: string): LocalAnswer | undefined;
  /** The statement over MySQL's own catalog tables; undefined when it names none. */
  catalogSql(sql: string): CatalogSql | undefined;
  /** Answers what the frontend answers itself, with binary rows. */
  answerSource(source: string): Promise<boolean> | boolean;
  /** Runs and answers with the columns; rows are fetched later. */
  openCursor(id: number, bound: BoundStatement): Promise<void>;
  /** A statement has one cursor; executing it again ends the last. A promise only where there is one. */
  closeCursor(id: number): Promise<void> | undefined;
}

const binaryForm: AnswerForm = { rows: "binary", moreFollow: false };

/** CURSOR_TYPE_READ_ONLY, the only kind a MySQL server has. */
const cursorReadOnly = 1;

type Unsaved = Omit<PreparedStatement, "id">;

/** COM_STMT_PREPARE. */
export async function prepare(parts: PreparedParts, bytes: Uint8Array): Promise<void> {
  const { talk, prepared } = parts;
  const made = await statementOf(parts, bytes);
  if (!made.ok) return void talk.putError(made.error);
  const statementId = prepared.add(made.value);
  if (statementId === undefined) {
    return void talk.putError(ownErrors.tooManyStatements(preparedMax));
  }
  const { parameters, columns } = made.value;
  putPreparedPackets(talk.out, { statementId, parameters, columns }, talk.context(false));
}

/** COM_STMT_EXECUTE. A promise only where it takes time. */
export function executePrepared(
  parts: PreparedParts,
  command: Execute,
): Promise<unknown> | boolean {
  const { talk, prepared } = parts;
  const statement = prepared.get(command.statementId);
  if (statement === undefined) {
    const reply = ownErrors.unknownStatement(command.statementId, "mysqld_stmt_execute");
    return talk.putError(reply);
  }
  const closing = parts.closeCursor(statement.id);
  if (closing === undefined) return execute(parts, statement, command);
  return closing.then(() => execute(parts, statement, command));
}

function execute(
  parts: PreparedParts,
  prepared: PreparedStatement,
  command: Execute,
): Promise<unknown> | boolean {
  const { talk } = parts;
  const { source, statement, sql } = prepared;
  // What the frontend answers itself is short: all of it is sent, as the protocol allows.
  if (sql === undefined) return parts.answerSource(source);
  const values = valuesOf(parts, prepared, command.body);
  if (!values.ok) return talk.putError(values.error);
  const bound = { source, statement, sql, parameters: values.value, otherwise: undefined };
  const wantsCursor = (command.cursor & cursorReadOnly) !== 0;
  return wantsCursor ? parts.openCursor(prepared.id, bound) : runStatement(talk, bound, binaryForm);
}

async function statementOf(
  parts: PreparedParts,
  bytes: Uint8Array,
): Promise<Result<Unsaved, ErrorReply>> {
  const decoded = await textOf(parts.talk, bytes);
  if (!decoded.ok) return decoded;
  const text = decoded.value;
  const slices = splitStatements(text, "mysql", 1);
  if (!slices.ok) return err(ownErrors.notSupported("several statements in a prepared one"));
  const [slice] = slices.value;
  if (slice === undefined) return err(ownErrors.emptyQuery());

  const source = text.slice(slice.start, slice.end);
  const local = parts.answerLocally(source);
  if (local !== undefined) return localStatement(source, local);
  const forwarded = forwardedSql(source);
  if (!forwarded.ok) return forwarded;
  const catalog = parts.catalogSql(forwarded.value);
  const engineText = catalog?.sql ?? forwarded.value;
  const made = await engineStatement(parts, source, engineText);
  if (made.ok || catalog?.otherwise === undefined) return made;
  return await engineStatement(parts, source, catalog.otherwise);
}

async function engineStatement(
  parts: PreparedParts,
  source: string,
  text: string,
): Promise<Result<Unsaved, ErrorReply>> {
  const places = findPlaces(text, forwardedDialect, ["question"]);
  if (!places.ok) return err(placesReply(places.error, source));
  const { sql } = rewritePlaces(places.value, "dollarNumber");
  const described = await describe(parts.talk, source, sql);
  if (!described.ok) return described;
  const { parameters, columns } = described.value;
  return ok({
    source,
    statement: readStatement(source, "mysql"),
    sql,
    // The text decides the count: values are read by it.
    parameters: Array.from(
      { length: places.value.count },
      (_, index) => parameters[index] ?? unknown,
    ),
    columns,
  });
}

const unknown = { kind: "null" } as const;

function placesReply(error: PlacesError, source: string): ErrorReply {
  switch (error.code) {
    case "placeOutOfRange":
      return ownErrors.tooManyParameters();
    case "mixedPlaces":
      return ownErrors.syntax(source.slice(error.at));
    case "unterminated":
      return ownErrors.syntax(source.slice(-shownOfEnd));
  }
}

/** Characters of the end of a text that is open there. */
const shownOfEnd = 40;

function localStatement(source: string, answer: LocalAnswer): Result<Unsaved, ErrorReply> {
  const statement = readStatement(source, "mysql");
  const made = (columns: readonly Column[]) =>
    ok({ source, statement, sql: undefined, parameters: [], columns } as const);
  switch (answer.kind) {
    case "rows":
    case "asked":
    case "rewritten":
      return made(answer.columns);
    case "changed":
    case "use":
    case "kill":
      return made([]);
    case "error":
      return err(answer.reply);
  }
}

/** Statements about a transaction are not shown to the engine: they have neither parameters nor columns. */
async function describe(
  talk: Conversation,
  source: string,
  sql: string,
): Promise<Result<Description, ErrorReply>> {
  const { kind } = readStatement(source, "mysql");
  if (kind === "begin" || kind === "commit" || kind === "rollback") {
    return ok({ parameters: [], columns: [] });
  }
  using running = talk.interruptible(source);
  const query = talk.door.query(forwardedStatement(sql), [], talk.client.session);
  const described = await talk.door.describe(query, running.signal);
  if (described.ok) return described;
  return comesWithTheValues(described.error)
    ? ok({ parameters: [], columns: [] })
    : err(errorReply(described.error, query.id));
}

/** No function takes these arguments: in `? + 1` they are not known before the values are. */
const undefinedFunction = "42883";

/** A statement that can not be described may run all the same; its columns then come with its result. */
function comesWithTheValues({ code, sqlState }: GatewayError): boolean {
  return code === "query.unsupported" || sqlState === undefinedFunction;
}

function valuesOf(
  { talk, prepared }: PreparedParts,
  statement: PreparedStatement,
  body: Uint8Array,
): Result<readonly Parameter[], ErrorReply> {
  const { id, parameters } = statement;
  const longData = prepared.takeLongData(id);
  if (longData.overflowed) return err(ownErrors.longDataTooLarge());
  const parsed = parseExecute(body, {
    parameters: parameters.length,
    types: prepared.types(id),
    longData: longData.values,
  });
  if (parsed.kind === "violation") return err(ownErrors.malformedParameters());
  prepared.bind(id, parsed.types);
  const typed = typedValues(parsed, statement, talk);
  return typed.ok ? typed : err(errorReply(typed.error));
}

function typedValues(
  { types, values }: BoundParameters,
  { parameters }: PreparedStatement,
  { client }: Conversation,
): Result<readonly Parameter[], GatewayError> {
  const context = { zone: client.zone, decode: client.charset.decode };
  const typed: Parameter[] = [];
  for (const [index, value] of values.entries()) {
    const bound = types[index];
    if (bound === undefined) continue;
    const parameter = parameterOf(value, bound, parameters[index] ?? unknown, context);
    if (!parameter.ok) return parameter;
    typed.push(parameter.value);
  }
  return ok(typed);
}
