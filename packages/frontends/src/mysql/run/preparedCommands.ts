/**
 * The commands on prepared statements: COM_STMT_PREPARE, EXECUTE, FETCH, RESET and CLOSE. Question marks
 * become `$1`, `$2`, …, the engine describes the statement, and an execution brings typed values.
 *
 * Statements that the frontend answers itself are prepared without the engine and answered anew at
 * each execution.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Description } from "@gateway/core/query/event.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  findPlaceholders,
  rewritePlaceholders,
  type PlaceholdersError,
} from "@gateway/core/sql/rewrite/placeholders.ts";
import type { StatementClass } from "@gateway/core/sql/classify/classify.ts";
import { splitStatements } from "@gateway/core/sql/lex/split.ts";
import { readStatement, type Statement } from "@gateway/core/sql/statement.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { Command, Execute } from "@gateway/wire/mysql/command.ts";
import { withTypes } from "@gateway/wire/mysql/execute.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { Responder } from "./responder.ts";
import type { AnswerForm } from "./resultSet.ts";
import { Cursor, type Cursors } from "./cursor.ts";
import { putPreparedPackets } from "../encode.ts";
import { errorReply, ownErrors } from "../errors.ts";
import { forwardedDialect, forwardedSql } from "../read/forward.ts";
import { otherwiseOf, withOtherIsolation } from "../read/isolation.ts";
import { readOne } from "../read/reading.ts";
import { preparedMax } from "../limits.ts";
import type { LocalAnswer } from "../commands/answer.ts";
import type { CatalogSql } from "../catalog/informationSchema.ts";
import { withLiterals } from "../value/literals.ts";
import { boundValues, typedValues, unknown, valuesRead } from "../value/bound.ts";
import type { PreparedStatement, PreparedStatements } from "./prepared.ts";
import { executing, relayedOf, takeExecution, underSettings, type Relayed } from "./relaying.ts";
import { namesServerVariables, setsThemOnly } from "./userVariables.ts";
import {
  engineStatement,
  ofNext,
  runStatement,
  variablesOf,
  type BoundStatement,
  type EngineStatement,
} from "./statement.ts";
import { beforeStatement } from "./transaction.ts";
import { rowCountRefusal } from "../read/rowCount.ts";
import { textOf } from "./text.ts";

export interface PreparedParts {
  readonly responder: Responder;
  readonly prepared: PreparedStatements;
  /** A statement has one at most; executing it again ends the last. */
  readonly cursors: Cursors;
  answerLocally(sql: string): LocalAnswer | undefined;
  /** The statement over MySQL's own catalog tables; undefined when it names none. */
  catalogSql(sql: string): CatalogSql | undefined;
  /** Answers what the frontend answers itself, with binary rows. */
  answerSource(source: string): Promise<boolean> | boolean;
}

const binaryForm: AnswerForm = { rows: "binary", moreFollow: false };

/** CURSOR_TYPE_READ_ONLY, the only kind a MySQL server has. */
const cursorReadOnly = 1;

/** What is prepared, and what is said of it once. */
type Unsaved = Omit<PreparedStatement, "id"> & Pick<Description, "native">;

/** COM_STMT_PREPARE. */
export async function prepare(parts: PreparedParts, bytes: Uint8Array): Promise<void> {
  const { responder, prepared } = parts;
  const made = await statementOf(parts, bytes);
  if (!made.ok) return void responder.putError(made.error);
  const { native, ...statement } = made.value;
  const statementId = prepared.add(statement);
  if (statementId === undefined) {
    return void responder.putError(ownErrors.tooManyStatements(preparedMax));
  }
  const { parameters, columns } = statement;
  const said = { statementId, parameters, columns, ...(native && { native }) };
  putPreparedPackets(responder.out, said, responder.context(false));
}

/** COM_STMT_EXECUTE. A promise only where it takes time. */
export function executePrepared(
  parts: PreparedParts,
  command: Execute,
): Promise<unknown> | boolean {
  const { responder, prepared } = parts;
  const statement = prepared.get(command.statementId);
  if (statement === undefined) {
    const reply = ownErrors.unknownStatement(command.statementId, "mysqld_stmt_execute");
    return responder.putError(reply);
  }
  const named = (responder.client.capabilities & capability.queryAttributes) !== 0;
  const own = named ? takeExecution(responder, prepared, statement, command) : command;
  if ("refused" in own) return responder.putError(own.refused);
  const closing = parts.cursors.close(statement.id);
  if (closing === undefined) return execute(parts, statement, own);
  return closing.then(() => execute(parts, statement, own));
}

function execute(
  parts: PreparedParts,
  prepared: PreparedStatement,
  command: Execute,
): Promise<unknown> | boolean {
  const { responder } = parts;
  const { source, statement, sql } = prepared;
  // What the frontend answers itself is short: all of it is sent, as the protocol allows.
  if (sql === undefined) return answerOwn(parts, prepared, command.body);
  if (prepared.relayed !== undefined)
    return executeOnServer(parts, { ...prepared, sql, relayed: prepared.relayed }, command);
  const { zone, charset } = responder.client;
  const context = { zone, decode: charset.decode };
  const values = typedValues(context, parts.prepared, prepared, command.body);
  if (!values.ok) return responder.putError(values.error);
  const bound = { source, statement, sql, parameters: values.value, otherwise: undefined };
  const wantsCursor = (command.cursor & cursorReadOnly) !== 0;
  return wantsCursor
    ? openCursor(parts, prepared.id, bound)
    : runStatement(responder, bound, binaryForm);
}

/** A SET is answered with the values in its text. */
function answerOwn(
  parts: PreparedParts,
  { id, source, parameters: { length } }: PreparedStatement,
  body: Uint8Array,
): Promise<unknown> | boolean {
  const { responder, prepared } = parts;
  if (length === 0) return parts.answerSource(source);
  const parsed = boundValues(prepared, { id, parameters: length }, body);
  if (!parsed.ok) return responder.putError(parsed.error);
  const places = findPlaceholders(source, "mysql");
  const { decode } = responder.client.charset;
  const text =
    places.ok && withLiterals(source, places.value.placeholders, parsed.value.values, decode);
  return typeof text === "string"
    ? parts.answerSource(text)
    : responder.putError(ownErrors.notSupported("this value in SET"));
}

/** What the protocol prepares and the session itself does: it has no values, and goes as its text. */
const sessionKinds: ReadonlySet<string> = new Set(["begin", "commit", "rollback", "savepoint"]);

/** The values go on as they came. A cursor is opened for what reads; a server opens none for anything else. */
function executeOnServer(
  parts: PreparedParts,
  prepared: PreparedStatement & { readonly sql: string; readonly relayed: Relayed },
  { body, cursor }: Execute,
): Promise<unknown> | boolean {
  const { responder, prepared: statements } = parts;
  const { id, source, statement, sql, relayed } = prepared;
  const parameters = prepared.parameters.length;
  const longData = statements.takeLongData(id);
  if (longData.overflowed) return responder.putError(ownErrors.longDataTooLarge());
  const bound = withTypes(body, { parameters, types: statements.types(id) });
  if ("kind" in bound) return responder.putError(ownErrors.malformedParameters());
  statements.bind(id, bound.types);
  const values = valuesRead(responder.client, bound, longData.values);
  if (!values.ok) return responder.putError(values.error);
  const wantsCursor = (cursor & cursorReadOnly) !== 0 && statement.kind === "select";
  const execution = {
    parameters,
    ...values.value,
    ...(wantsCursor && { cursor: { wanted: 0 } }),
  };
  const own = sessionKinds.has(statement.kind) ? relayed : executing(relayed, execution);
  const asked = { source, statement, sql, parameters: [], otherwise: undefined, relayed: own };
  return wantsCursor ? openCursor(parts, id, asked) : runStatement(responder, asked, binaryForm);
}

/** Runs a bound statement as far as its columns; rows come when they are fetched. */
async function openCursor(
  { responder, cursors }: PreparedParts,
  id: number,
  bound: BoundStatement,
): Promise<void> {
  const failed =
    rowCountRefusal(bound.source) ??
    (await variablesOf(responder, bound.source)) ??
    (await beforeStatement(responder, bound.statement));
  if (failed !== undefined) return void responder.putError(failed);
  const asked = engineStatement(responder, bound);
  const cursor = new Cursor(responder, asked);
  const opening = () => cursor.open();
  const open = asked.next === undefined ? opening() : ofNext(responder, asked.next, opening);
  if (await open) cursors.put(id, cursor);
}

/** COM_STMT_FETCH. */
export async function fetchPrepared(
  { responder, prepared, cursors }: PreparedParts,
  { statementId: id, rows }: Extract<Command, { kind: "fetch" }>,
): Promise<void> {
  const cursor = cursors.get(id);
  if (cursor !== undefined) {
    if (!(await cursor.fetch(rows))) await cursors.close(id);
    return;
  }
  const known = prepared.get(id) !== undefined;
  responder.putError(
    known ? ownErrors.noCursor(id) : ownErrors.unknownStatement(id, "mysqld_stmt_fetch"),
  );
}

/** COM_STMT_RESET: ends the statement's cursor and forgets what was sent ahead. A promise only where there is a cursor. */
export function resetPrepared(parts: PreparedParts, id: number): Promise<void> | undefined {
  const closing = parts.cursors.close(id);
  return closing === undefined ? forget(parts, id) : closing.then(() => forget(parts, id));
}

function forget({ responder, prepared }: PreparedParts, id: number): undefined {
  if (prepared.reset(id)) return responder.putDone();
  responder.putError(ownErrors.unknownStatement(id, "mysqld_stmt_reset"));
}

/** COM_STMT_CLOSE, which has no answer. A promise only where there is a cursor. */
export function closePrepared(
  { prepared, cursors }: PreparedParts,
  id: number,
): Promise<void> | undefined {
  prepared.close(id);
  return cursors.close(id);
}

async function statementOf(
  parts: PreparedParts,
  bytes: Uint8Array,
): Promise<Result<Unsaved, ErrorReply>> {
  const decoded = await textOf(parts.responder, bytes);
  if (!decoded.ok) return decoded;
  const text = decoded.value;
  const slices = splitStatements(text, "mysql", 1);
  if (!slices.ok) return err(ownErrors.notSupported("several statements in a prepared one"));
  const [slice] = slices.value;
  if (slice === undefined) return err(ownErrors.emptyQuery());

  const source = text.slice(slice.start, slice.end);
  const statement = readStatement(source, "mysql");
  return (
    (await preparedUnder(parts, source, statement)) ?? (await preparedOf(parts, source, statement))
  );
}

async function preparedOf(
  parts: PreparedParts,
  source: string,
  statement: Statement,
): Promise<Result<Unsaved, ErrorReply>> {
  const server = namesServerVariables(parts.responder, source, statement);
  const local = server ? undefined : parts.answerLocally(source);
  const relayed = relayedOf(parts.responder, statement);
  const isServers = local?.kind === "error" && relayed !== undefined && setsThemOnly(source);
  if (local !== undefined && !isServers) return localStatement(source, local, statement);
  if (relayed !== undefined) {
    const made = await preparedByServer(parts.responder, source, relayed);
    const other = made.ok ? undefined : otherwiseOf(readOne(source));
    return other === undefined ? made : await preparedBy(parts, source, other);
  }
  const forwarded = forwardedSql(source);
  if (!forwarded.ok) return forwarded;
  const catalog = parts.catalogSql(forwarded.value);
  const engineText = catalog?.sql ?? forwarded.value;
  const otherwise = catalog?.otherwise ?? withOtherIsolation(engineText);
  const made = await preparedBy(parts, source, engineText);
  return made.ok || otherwise === undefined ? made : await preparedBy(parts, source, otherwise);
}

/** What is answered here is answered anew at each execution, by its whole text. */
async function preparedUnder(
  parts: PreparedParts,
  source: string,
  statement: StatementClass,
): Promise<Result<Unsaved, ErrorReply> | undefined> {
  if (statement.kind !== "unknown") return undefined;
  const { responder } = parts;
  const answer = (sql: string) => parts.answerLocally(sql);
  const own = underSettings(responder, { source, statement }, answer);
  if (own === undefined) return undefined;
  if ("refused" in own) return err(own.refused);
  const { read, relayed, local } = own;
  if (local !== undefined) return localStatement(source, local, read.statement);
  return await preparedByServer(responder, read.source, relayed);
}

/** The server counts the places, and says in its own words what it does not prepare. */
async function preparedByServer(
  responder: Responder,
  source: string,
  relayed: Relayed,
): Promise<Result<Unsaved, ErrorReply>> {
  const described = await describe(responder, source, { sql: source, parameters: [], relayed });
  if (!described.ok) return described;
  const { statement } = relayed;
  return ok({ source, statement, sql: source, relayed, ...described.value });
}

async function preparedBy(
  parts: PreparedParts,
  source: string,
  text: string,
): Promise<Result<Unsaved, ErrorReply>> {
  const places = findPlaceholders(text, forwardedDialect, ["question"]);
  if (!places.ok) return err(placesReply(places.error, source));
  const { sql } = rewritePlaceholders(places.value, "dollarNumber");
  const described = await describe(parts.responder, source, { sql, parameters: [] });
  if (!described.ok) return described;
  const { parameters, columns, native } = described.value;
  return ok({
    source,
    statement: readStatement(source, "mysql"),
    sql,
    // The text decides how many there are, because the values are read by that count.
    parameters: Array.from(
      { length: places.value.count },
      (_, index) => parameters[index] ?? unknown,
    ),
    columns,
    ...(native && { native }),
  });
}

function placesReply(error: PlaceholdersError, source: string): ErrorReply {
  switch (error.code) {
    case "placeholderOutOfRange":
      return ownErrors.tooManyParameters();
    case "mixedPlaceholders":
      return ownErrors.syntax(source.slice(error.at));
    case "unterminated":
      return ownErrors.syntax(source.slice(-shownOfEnd));
  }
}

/** Characters of an unterminated text's end that the error shows. */
const shownOfEnd = 40;

function localStatement(
  source: string,
  answer: LocalAnswer,
  statement: StatementClass,
): Result<Unsaved, ErrorReply> {
  const made = (columns: readonly Column[], places = 0) => {
    const parameters = Array.from({ length: places }, () => unknown);
    return ok({ source, statement, sql: undefined, parameters, columns });
  };
  switch (answer.kind) {
    case "rows":
    case "asked":
    case "rewritten":
    case "processes":
      return made(answer.columns);
    case "changed":
    case "use":
    case "kill":
      return made([]);
    case "error": {
      // Whether a SET can be done is known when its values are.
      const places = statement.kind === "set" ? findPlaceholders(source, "mysql") : undefined;
      return places?.ok && places.value.count > 0
        ? made([], places.value.count)
        : err(answer.reply);
    }
  }
}

/** Asks the engine, unless the statement is about a transaction, which has neither parameters nor columns. */
async function describe(
  responder: Responder,
  source: string,
  asked: Pick<EngineStatement, "sql" | "parameters" | "relayed">,
): Promise<Result<Description, ErrorReply>> {
  const { kind } = readStatement(source, "mysql");
  if (kind === "begin" || kind === "commit" || kind === "rollback") {
    return ok({ parameters: [], columns: [] });
  }
  using running = responder.interruptible(source);
  const query = responder.asked(asked);
  const described = await responder.door.describe(query, running.signal);
  if (described.ok) return described;
  return asked.relayed === undefined && comesWithTheValues(described.error)
    ? ok({ parameters: [], columns: [] })
    : err(errorReply(described.error, query.id));
}

/** No function takes these arguments. In `? + 1` their types are not known before the values come. */
const undefinedFunction = "42883";

/** A statement that can not be described may run all the same; its columns then come with its result. */
function comesWithTheValues({ code, sqlState }: GatewayError): boolean {
  return code === "query.unsupported" || sqlState === undefinedFunction;
}
