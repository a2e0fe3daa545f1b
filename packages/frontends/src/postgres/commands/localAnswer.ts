/** Answers the statements that `local.ts` found: changes the session and makes the rows. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import type { ClientSession } from "../session/clientSession.ts";
import { isOurs, type LocalStatement } from "./local.ts";
import type { Question, QuestionName } from "./localSelect.ts";
import { settings, versionText } from "../session/settings.ts";
import { unwritableIn } from "../value/recoded.ts";
import { pgTypes } from "../value/types.ts";

/** The answer to a statement. `columns` undefined: it has no result. */
export interface LocalOutcome {
  readonly columns: readonly Column[] | undefined;
  readonly rows: readonly (readonly Value[])[];
  /** The command tag; for a result the count of rows is put behind it. */
  readonly tag: string;
  readonly warning?: string;
  /** Prepared statements or portals to drop: the session does not hold them. */
  readonly forget?: Forget;
}

/** What to drop: one prepared statement, all of them, or all of them and the portals. */
export type Forget =
  | { readonly kind: "statement"; readonly name: string }
  | { readonly kind: "statements" }
  | { readonly kind: "everything" };

/** What the answer needs beside the session. */
export interface LocalServer {
  /** The process number of the connection's cancel key. */
  readonly process: number;
}

const text: DataType = { kind: "text" };
const int32: DataType = { kind: "integer", bits: 32, signed: true };
const oid: DataType = { kind: "integer", bits: 64, signed: true };

/** Columns of the result, known before it is made; undefined for a statement without a result. */
export function localColumns(statement: LocalStatement): readonly Column[] | undefined {
  switch (statement.kind) {
    case "show":
      return [columnOf(settings.get(statement.name)?.name ?? statement.name, text, false)];
    case "showAll":
      return ["name", "setting", "description"].map((name) => columnOf(name, text, false));
    case "ask":
      return statement.questions.map(({ ask, label }) => columnOf(label, answerTypes[ask]));
    case "arrayTypes":
      return [columnOf("oid", oid), columnOf("typarray", oid)];
    case "set":
    case "reset":
    case "resetAll":
    case "deallocate":
    case "discardAll":
    case "nothing":
    case "refuse":
      return undefined;
  }
}

/** Does what the statement says. A refusal changes nothing, but that what was answered could not be written. */
export function answerLocal(
  statement: LocalStatement,
  session: ClientSession,
  server: LocalServer,
): Result<LocalOutcome, GatewayError> {
  const answered = answerOf(statement, session, server);
  const { charset } = session;
  if (charset === undefined || !answered.ok) return answered;
  const values = answered.value.rows.flat();
  if (!values.some((value) => typeof value === "string" && unwritableIn(value, charset)))
    return answered;
  const message = `the answer has a character that has no equivalent in encoding "${charset.name}"`;
  return err(gatewayError("query.data", { sqlState: "22P05", message }));
}

function answerOf(
  statement: LocalStatement,
  session: ClientSession,
  server: LocalServer,
): Result<LocalOutcome, GatewayError> {
  const columns = localColumns(statement);
  const result = (rows: readonly (readonly Value[])[], tag = "SELECT") =>
    ok({ columns, rows, tag });
  switch (statement.kind) {
    case "set":
      return answerSet(statement, session);
    case "reset":
      return afterwards(session.set(statement.name, undefined), done("RESET"));
    case "resetAll":
      session.resetAll();
      return ok(done("RESET"));
    case "show":
      return answerShow(statement.name, session, columns);
    case "showAll":
      return result(allSettings(session), "SHOW");
    case "deallocate":
      return ok(deallocate(statement.name));
    case "discardAll":
      return discardAll(session);
    case "nothing":
      return ok(done(statement.tag));
    case "ask":
      return answerQuestions(statement.questions, session, server);
    case "arrayTypes":
      return result(arrayTypes());
    case "refuse":
      return err(statement.error);
  }
}

function done(tag: string): LocalOutcome {
  return { columns: undefined, rows: [], tag };
}

function afterwards(
  changed: Result<void, GatewayError>,
  outcome: LocalOutcome,
): Result<LocalOutcome, GatewayError> {
  return changed.ok ? ok(outcome) : changed;
}

function answerSet(
  { changes, local }: Extract<LocalStatement, { kind: "set" }>,
  session: ClientSession,
): Result<LocalOutcome, GatewayError> {
  if (local && session.pin === undefined) {
    const warning = "SET LOCAL can only be used in transaction blocks";
    return ok({ ...done("SET"), warning });
  }
  for (const { name, value } of changes) {
    const changed = session.set(name, value, local);
    if (!changed.ok) return changed;
  }
  return ok(done("SET"));
}

function answerShow(
  name: string,
  session: ClientSession,
  columns: readonly Column[] | undefined,
): Result<LocalOutcome, GatewayError> {
  const value = session.known(name);
  return value === undefined
    ? err(unknownSetting(name))
    : ok({ columns, rows: [[value]], tag: "SHOW" });
}

function unknownSetting(name: string): GatewayError {
  const message = `unrecognized configuration parameter "${name}"`;
  return gatewayError("query.unknownObject", { sqlState: "42704", message });
}

function allSettings(session: ClientSession): readonly (readonly Value[])[] {
  return [...settings.entries()]
    .map(([key, { name }]) => [name, session.setting(key), ""])
    .toSorted(([a = ""], [b = ""]) => a.localeCompare(b));
}

function deallocate(name: string | undefined): LocalOutcome {
  if (name === undefined) return { ...done("DEALLOCATE ALL"), forget: { kind: "statements" } };
  return { ...done("DEALLOCATE"), forget: { kind: "statement", name } };
}

function discardAll(session: ClientSession): Result<LocalOutcome, GatewayError> {
  if (session.pin !== undefined) {
    const message = "DISCARD ALL cannot run inside a transaction block";
    return err(gatewayError("query.transaction", { sqlState: "25001", message }));
  }
  session.resetAll();
  return ok({ ...done("DISCARD ALL"), forget: { kind: "everything" } });
}

/** Ids of the types that have an array, and of the array. */
function arrayTypes(): readonly (readonly Value[])[] {
  return Object.values(pgTypes)
    .map((type) => [BigInt(type.oid), BigInt(type.array)])
    .toSorted(([a = 0n], [b = 0n]) => Number(a - b));
}

const answerTypes = {
  version: text,
  current_setting: text,
  set_config: text,
  pg_backend_pid: int32,
  pg_is_in_recovery: { kind: "boolean" },
  pg_client_encoding: text,
  getdatabaseencoding: text,
  pg_advisory_unlock_all: text,
  current_user: text,
  session_user: text,
  user: text,
} as const satisfies Record<QuestionName, DataType>;

function answerQuestions(
  questions: readonly Question[],
  session: ClientSession,
  server: LocalServer,
): Result<LocalOutcome, GatewayError> {
  const row: Value[] = [];
  for (const question of questions) {
    const answer = answerQuestion(question, session, server);
    if (!answer.ok) return answer;
    row.push(answer.value);
  }
  const columns = localColumns({ kind: "ask", questions });
  return ok({ columns, rows: [row], tag: "SELECT" });
}

function answerQuestion(
  { ask, arguments: [first = "", second, third] }: Question,
  session: ClientSession,
  { process }: LocalServer,
): Result<Value, GatewayError> {
  switch (ask) {
    case "version":
      return ok(versionText);
    case "current_setting": {
      const value = session.known(first.toLowerCase());
      if (value !== undefined) return ok(value);
      return second === "true" ? ok(null) : err(unknownSetting(first));
    }
    case "set_config": {
      if (!isOurs(first.toLowerCase())) {
        const message = `set_config of ${first.slice(0, 100)} is not supported`;
        return err(gatewayError("query.unsupported", { message }));
      }
      const changed = session.set(
        first,
        second ?? "",
        third === "true" && session.pin !== undefined,
      );
      return changed.ok ? ok(session.setting(first.toLowerCase())) : changed;
    }
    case "pg_backend_pid":
      return ok(BigInt(process));
    case "pg_is_in_recovery":
      return ok(false);
    case "pg_client_encoding":
      return ok(session.setting("client_encoding"));
    case "getdatabaseencoding":
      return ok("UTF8");
    case "pg_advisory_unlock_all":
      return ok("");
    case "current_user":
    case "session_user":
    case "user":
      return ok(session.value.identity.user);
  }
}
