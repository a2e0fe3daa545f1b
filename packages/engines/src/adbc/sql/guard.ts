/**
 * Decides whether a statement may go to a driver, and what is expected of it.
 *
 * DuckDB has a guard of its own, shared with the embedded engine. The others are held to what keeps a
 * connection fit for the next session, and away from files: SQLite may not attach or write files,
 * Snowflake's driver may not `PUT` or `GET` files of this host.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { classifyStatement, type StatementClass } from "@gateway/core/sql/classify/classify.ts";
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import type { TokenReader } from "@gateway/core/sql/longText.ts";
import { readingsBy } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";
import { guardAhead, guardAlong, guardStatement } from "../../duckDb/library/guard.ts";
import { bodiesIn, leftBehindIn, type LeftBehind } from "./leftBehind.ts";
import { mainStart } from "./mainStart.ts";
import type { ExpectedStatement } from "../../native/message.ts";
import type { Profile } from "../profile.ts";

/** A statement that may go to the driver. */
export interface Judged {
  readonly answers: "rows" | "count";
  /** Upper-case name for command tags; undefined for a plain query. */
  readonly updateType: string | undefined;
  readonly writes: boolean;
  /** It may make something under a name. */
  readonly makes: boolean;
  /** It may leave something on its connection, which then goes to no other session. */
  readonly leaves: boolean;
  /** A query whose rows the driver can read in its fastest way. */
  readonly plainQuery: boolean;
  readonly expected: ExpectedStatement | undefined;
}

/** Judges one statement. `pinned`: in a transaction, on a connection of its own. */
export function judgeStatement(
  profile: Profile,
  sql: string,
  pinned: boolean,
): Result<Judged, GatewayError> {
  if (profile.name === "duckdb") {
    const guarded = guardStatement(sql, { pinned });
    if (!guarded.ok) return guarded;
    return ok({ ...guarded.value, makes: false, leaves: false, plainQuery: true });
  }
  if (sql.includes("\0")) return refuse("query.syntax", "the text holds a NUL character");
  const found = classifyStatement(sql, profile.dialect);
  if (found.kind === "empty") return refuse("query.syntax", "the text holds no statement");
  if (found.doubt === "severalStatements") {
    return refuse("query.unsupported", "one statement at a time; the text holds several");
  }
  const refused =
    refusalOf(profile, found, sql, pinned) ?? keepingRefusal(profile, found, sql, pinned);
  return refused === undefined ? ok(judged(found, sql, profile)) : err(refused);
}

function judged(found: StatementClass, sql: string, profile: Profile): Judged {
  const outside = outsideIn(profile.dialect)(sql);
  // A part of a WITH that inserts has an INTO too.
  const intoTable = found.tag === "SELECT INTO" && outside.into;
  const shows = showing.has(found.kind) && !intoTable;
  const returning = !shows && outside.returning;
  const block = profile.name === "postgresql" && found.firstWord === "DO";
  return {
    answers: shows || returning || (found.kind === "call" && !block) ? "rows" : "count",
    updateType: updateTypeOf(profile, found, { shows, isFilled: outside.as }),
    writes: found.writes,
    makes: intoTable || found.tag.startsWith("CREATE"),
    leaves: !isCleaned(profile) && !harmless.has(found.kind),
    plainQuery: found.kind === "select" || returning,
    expected: undefined,
  };
}

const showing: ReadonlySet<string> = new Set(["select", "show", "describe", "explain"]);
/** Kinds that leave a connection as it was. What functions of a query leave on it is the profile's matter. */
const harmless: ReadonlySet<string> = new Set([...showing, "insert", "update", "delete", "merge"]);

/** Whether a used connection is made fit again, or not used at all. */
function isCleaned({ connection }: Profile): boolean {
  return connection === "new" || connection.cleaning !== undefined;
}

/** The name by which a client is told what was done. */
function updateTypeOf(
  { name }: Profile,
  { kind, tag }: StatementClass,
  { shows, isFilled }: { readonly shows: boolean; readonly isFilled: boolean },
): string | undefined {
  if (name !== "postgresql") return shows || kind === "call" ? undefined : tag;
  if (shows && kind === "select") return undefined;
  return isFilled && filled.has(tag) ? `${tag} AS` : tag;
}

/** What may be made of a query. */
const filled: ReadonlySet<string> = new Set(["CREATE TABLE", "CREATE MATERIALIZED VIEW"]);

function refusalOf(
  { name, label }: Profile,
  found: StatementClass,
  sql: string,
  pinned: boolean,
): GatewayError | undefined {
  switch (found.kind) {
    case "begin":
    case "commit":
    case "rollback":
      return refusal("query.transaction", `${found.tag} is not possible here`);
    case "savepoint":
      return pinned ? undefined : refusal("query.transaction", "there is no transaction");
    case "set":
    case "reset":
    case "discard":
      return refusal("query.unsupported", `${found.tag} of ${label} is not kept by the gateway`);
    case "use":
      return refusal("query.unsupported", `${label} can not be asked for this with USE`);
    case "prepare":
    case "execute":
    case "deallocate":
    case "declare":
    case "fetch":
    case "close":
      return refusal("query.unsupported", `${found.tag} as text; use the client's protocol`);
    case "kill":
      return refusal("query.permission", "queries are ended through the gateway");
    case "copy":
      return name === "snowflake" && found.tag.startsWith("COPY") && !movesFiles(sql)
        ? undefined
        : refusal("query.permission", `${found.firstWord} is not permitted`);
    default:
      return fileRefusal(name, found, sql);
  }
}

/** Statements whose success would promise something to the client's later ones, which have other connections. */
function keepingRefusal(
  { name, dialect }: Profile,
  { kind, firstWord }: StatementClass,
  sql: string,
  pinned: boolean,
): GatewayError | undefined {
  const left = leftBehindIn(dialect);
  const found = left(sql);
  const isTemporary = found.temporary || (found.inTemp && name === "sqlite");
  const makes = isTemporary && (kind === "ddl" || kind === "select" || kind === "explain");
  if (makes && !(pinned && found.dropped && name === "postgresql")) {
    return refusal("query.unsupported", temporaryMessage(name));
  }
  if (name !== "postgresql") return undefined;
  if (firstWord === "LISTEN") {
    return refusal("query.unsupported", "LISTEN: no notification would reach the client");
  }
  if (firstWord === "LOAD") {
    return refusal("query.unsupported", "LOAD: the next statement has another connection");
  }
  // A block runs its own text at once, and what that leaves is lost as well.
  const bodies = firstWord === "DO" ? bodiesIn(sql).map(left) : [];
  if (bodies.some(({ temporary, dropped }) => temporary && !dropped)) {
    return refusal("query.unsupported", temporaryMessage(name));
  }
  return callRefusal([found, ...bodies]);
}

/** Functions of PostgreSQL that promise something to later statements. */
function callRefusal(found: readonly LeftBehind[]): GatewayError | undefined {
  if (found.some(({ setting }) => setting)) {
    const message = "set_config: SET keeps a setting, and set_config as the whole query";
    return refusal("query.unsupported", message);
  }
  if (found.some(({ seed }) => seed)) {
    return refusal("query.unsupported", "setseed counts for the statement that it stands in only");
  }
  if (!found.some(({ lock }) => lock)) return undefined;
  const message =
    "a lock of the session is not kept between statements; pg_advisory_xact_lock in a transaction is";
  return refusal("query.unsupported", message);
}

/** Behind a COMMIT the client has another connection, so only what ends with the transaction is kept as long as was said. */
function temporaryMessage(name: Profile["name"]): string {
  return name === "postgresql"
    ? "temporary objects are kept to the end of a transaction only: a table ON COMMIT DROP"
    : "temporary objects are not kept";
}

/** Statements that reach files of this host through the driver's library. */
function fileRefusal(
  name: Profile["name"],
  found: StatementClass,
  sql: string,
): GatewayError | undefined {
  if (name === "sqlite" && reachesFiles(found, sql)) {
    return refusal("query.permission", `${found.firstWord} is not permitted`);
  }
  // The driver looks for PUT and GET with a pattern of its own, so a text that is read in doubt is refused.
  const doubtful = found.kind === "unknown" || found.doubt !== undefined;
  if (name === "snowflake" && doubtful && movesFiles(sql)) {
    return refusal("query.permission", "PUT and GET are not permitted");
  }
  return undefined;
}

/**
 * VACUUM INTO and ATTACH open files, PRAGMA changes the library, also behind EXPLAIN. SQLite ends a line
 * comment at the line feed alone and skips byte order marks, so where those stand it may read another word.
 */
function reachesFiles({ firstWord }: StatementClass, sql: string): boolean {
  if (!/^[A-Z]+$/.test(firstWord) || /\r(?!\n)|\ufeff/.test(sql)) return true;
  if (firstWord === "EXPLAIN") return /\b(?:pragma|attach|vacuum)\b/i.test(sql);
  return ["ATTACH", "DETACH", "PRAGMA", "VACUUM"].includes(firstWord);
}

/** PUT or GET wherever a statement may begin, however the text before it is read. */
function movesFiles(sql: string): boolean {
  return /(?:^|[\n\r;]|\*\/)\s*(?:put|get)\s/i.test(sql);
}

/** Reads of a long text, in steps, what `judgeStatement` asks of it. */
export function judgeAhead({ name, dialect }: Profile, sql: string): Steps<void> {
  return name === "duckdb" ? guardAhead(sql) : readAhead(dialect, sql);
}

function* readAhead(dialect: Dialect, sql: string): Steps<void> {
  yield* outsideIn(dialect).ahead(sql);
  yield* leftBehindIn(dialect).ahead(sql);
  yield* mainStart(dialect).ahead(sql);
}

/** The part of it that is read of each token anyway. */
export function judgeAlong({ name }: Profile, sql: string): TokenReader | undefined {
  return name === "duckdb" ? guardAlong(sql) : undefined;
}

/** Words that decide what a statement answers, where they stand outside brackets. */
interface Outside {
  readonly returning: boolean;
  readonly into: boolean;
  readonly as: boolean;
}

const outsideIn = readingsBy(outsideBrackets);

function* outsideBrackets(sql: string, dialect: Dialect): Steps<Outside> {
  const cursor = openSql(sql, dialect);
  const words = new Set<string>();
  let depth = 0;
  for (let tokens = 1; nextSignificant(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    if (cursor.kind === "open") depth += 1;
    if (cursor.kind === "close") depth -= 1;
    if (depth !== 0 || cursor.kind !== "word") continue;
    const word = upperWord(cursor);
    if (deciding.has(word)) words.add(word);
  }
  return { returning: words.has("RETURNING"), into: words.has("INTO"), as: words.has("AS") };
}

const deciding: ReadonlySet<string> = new Set(["RETURNING", "INTO", "AS"]);

function refusal(code: GatewayError["code"], message: string): GatewayError {
  return gatewayError(code, { message });
}

function refuse(code: GatewayError["code"], message: string): Result<never, GatewayError> {
  return err(refusal(code, message));
}
