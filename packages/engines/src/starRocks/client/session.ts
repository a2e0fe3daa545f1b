/**
 * A session's database and variables. They are kept as changes of the session, and set on the connection
 * that runs its next statement.
 */
import type { Session } from "@gateway/core/query/query.ts";
import type {
  SessionStatement,
  SettingScope,
  SettingValue,
} from "@gateway/core/sql/session/statement.ts";
import { readSessionStatement } from "@gateway/core/sql/session/session.ts";
import { ask } from "./control.ts";
import { loginNames, type Member } from "./member.ts";
import { quoteIdentifier, quotePlainText, quoteText } from "../sql/quote.ts";

/** The one catalog that MySQL's family shows in its own lists. */
export const catalogName = "def";

/** The database behind a client's `USE`; undefined for every other statement. */
export function usedDatabase(sql: string): string | undefined {
  const found = readSessionStatement(sql, "mysql");
  if (found?.kind !== "use" || found.object !== undefined) return undefined;
  return found.path.at(-1)?.text;
}

/**
 * Variables that decide how text is read, that hold for one statement only, or that are the gateway's own.
 * Kept in a session, one of a single statement would come again with each.
 */
const ownVariables =
  /^(?:autocommit|names|character_set_(?!(?:server|filesystem)$)\w+|collation_database|password|init_connect|wait_timeout|interactive_timeout|max_allowed_packet|tx_read_only|transaction_read_only|insert_id|last_insert_id|identity|rand_seed[12]|gtid_next|pseudo_\w+|debug\w*)$/;

/** Modes under which names, or the quotes of strings, are read in another way than everything here writes them. */
const readingModes = /ANSI|DB2|MAXDB|MSSQL|ORACLE|POSTGRESQL/i;

/** Whether a backslash stands for itself in the strings of a session with this `sql_mode`. */
export function readsBackslashes(mode: string | undefined): boolean {
  return mode !== undefined && /\bNO_BACKSLASH_ESCAPES\b/i.test(mode);
}

/** Levels as the variable of the isolation names them. */
const levels = /^(?:READ-UNCOMMITTED|READ-COMMITTED|REPEATABLE-READ|SERIALIZABLE)$/i;

function isTaken(name: string, value: string, modes: Modes): boolean {
  // By their names only: a number may stand for any of them.
  if (name === modeVariable) {
    const other = modes === "escaping" && readsBackslashes(value);
    return /^[a-z_,]*$/i.test(value) && !readingModes.test(value) && !other;
  }
  if (isolationVariables.has(name)) return levels.test(value);
  // The frontend keeps writes back itself before what is no server of MySQL's own.
  if (name === accessVariable) return modes === "either" && /^(?:on|off)$/i.test(value);
  return !ownVariables.test(name);
}

/** What MySQL and MariaDB call the isolation of later transactions. */
const isolationVariables: ReadonlySet<string> = new Set(["transaction_isolation", "tx_isolation"]);

/** Whether later transactions may write. By this name alone it is a setting of ours. */
const accessVariable = "transaction_read_only";

/** Ways of reading strings that the connections of an engine may stand under: `either` with NO_BACKSLASH_ESCAPES. */
export type Modes = "escaping" | "either";

/** Variables that a client's `SET` changes, by their lower-case names; undefined where it is not only that. */
export function variablesSet(
  sql: string,
  modes: Modes = "escaping",
): ReadonlyMap<string, string> | undefined {
  const found = readSessionStatement(sql, "mysql");
  return found?.kind === "set" ? changesOf(found, modes) : undefined;
}

function changesOf(
  { changes }: Extract<SessionStatement, { kind: "set" }>,
  modes: Modes,
): ReadonlyMap<string, string> | undefined {
  const variables = new Map<string, string>();
  for (const change of changes) {
    if (change.kind !== "variable" || !/^[a-z][a-z0-9_]*$/.test(change.name)) return undefined;
    if (!ofSession.has(change.scope)) return undefined;
    const value = change.values.length === 1 ? written(change.values[0]) : undefined;
    if (value === undefined || !isTaken(change.name, value, modes)) return undefined;
    variables.set(change.name, value);
  }
  return variables;
}

const ofSession: ReadonlySet<SettingScope> = new Set(["unsaid", "bare", "session"]);

function written(value: SettingValue | undefined): string | undefined {
  switch (value?.kind) {
    case "text":
    case "number":
    case "word":
      return value.text;
    default:
      return undefined;
  }
}

/** The session's last id, as its setting and the server's variable. */
export const lastIdVariable = "last_insert_id";

/** The zone's name in the gateway's own session, on every wire. */
const ownZoneName = "timezone";
/** The name that the family has for it, and for UTC where its tables of zones are empty. */
const zoneVariable = "time_zone";
const utcOffset = "+00:00";

/** What the session's settings are on a connection: variables by the server's names. Other wires' settings mean nothing here. */
export function variablesOf({
  frontend,
  settings,
}: Pick<Session, "settings" | "frontend">): ReadonlyMap<string, string> {
  if (frontend !== "mysqlWire") return noVariables;
  let variables = madeOf.get(settings);
  if (variables === undefined) {
    variables = variablesMade(settings);
    madeOf.set(settings, variables);
  }
  return variables;
}

/** By the settings: a session's are another map once one of them changes. */
const madeOf = new WeakMap<Session["settings"], ReadonlyMap<string, string>>();

function variablesMade(settings: Session["settings"]): ReadonlyMap<string, string> {
  const zone = settings.get(ownZoneName);
  if (zone === undefined && !settings.has(lastIdVariable) && !settings.has(namesSetting))
    return settings;
  const variables = new Map(settings);
  variables.delete(ownZoneName);
  variables.delete(namesSetting);
  // It comes with the statements that read it, and goes with them.
  variables.delete(lastIdVariable);
  if (zone === undefined) return variables;
  return variables.set(zoneVariable, zone === "UTC" ? utcOffset : zone);
}

/** The session's setting that says what its client's `SET NAMES`, or its login, would be on a server. */
const namesSetting = "names";

/** What the session's connection is to stand under. Only texts of ours have another form than the login's. */
function namesOf({ frontend, settings }: Pick<Session, "settings" | "frontend">): string {
  const names = frontend === "mysqlWire" ? settings.get(namesSetting) : undefined;
  return names !== undefined && /^utf8mb4(?: COLLATE \w+)?$/.test(names) ? names : loginNames;
}

/** Brings the connection under the session's names. A collation that the server does not know leaves it its own. */
export async function bringNames(
  member: Member,
  session: Pick<Session, "settings" | "frontend">,
  signal: AbortSignal,
): Promise<void> {
  const names = namesOf(session);
  if (names === member.names) return;
  member.names = names;
  member.results = undefined;
  const done = await ask(member, `SET NAMES ${names}`, signal);
  if (!done.ok) await ask(member, "SET NAMES utf8mb4", signal);
}

/** True where the connection is where the session stands: its names, its database, its variables and no others. */
export function stands(
  member: Pick<Member, "names" | "database" | "variables">,
  session: Pick<Session, "schema" | "settings" | "frontend">,
  defaultDatabase: string | undefined,
): boolean {
  if (member.names !== namesOf(session)) return false;
  if (member.database !== (session.schema ?? defaultDatabase)) return false;
  const wanted = variablesOf(session);
  if (wanted.size !== member.variables.size) return false;
  for (const [name, value] of wanted) if (member.variables.get(name) !== value) return false;
  return true;
}

const noVariables: ReadonlyMap<string, string> = new Map();

/** A statement that brings a connection nearer to its session, and what stands there behind it. */
export interface Bringing {
  readonly sql: string;
  readonly variable?: { readonly name: string; readonly value: string };
}

/**
 * Statements that give the connection the session's database and variables; undefined when it can not get
 * them.
 */
export function bringing(
  member: Pick<Member, "database" | "variables">,
  session: Pick<Session, "schema" | "settings" | "frontend">,
  defaultDatabase: string | undefined,
): readonly Bringing[] | undefined {
  const wanted = variablesOf(session);
  // A variable has no way back to what the server had before.
  if ([...member.variables.keys()].some((name) => !wanted.has(name))) return undefined;
  const database = session.schema ?? defaultDatabase;
  if (database === undefined && member.database !== undefined) return undefined;
  const changed = [...wanted].filter(([name, value]) => member.variables.get(name) !== value);
  // The mode first: it says how the strings of the others are read.
  const isMode = ([name]: readonly [string, string]) => name === modeVariable;
  const inOrder = [...changed.filter(isMode), ...changed.filter((one) => !isMode(one))];
  const mode = wanted.get(modeVariable);
  return [
    ...(database === undefined || database === member.database
      ? []
      : [{ sql: `USE ${quoteIdentifier(database)}` }]),
    ...inOrder.map(([name, value]) => ({
      sql: setStatement(name, value, mode),
      variable: { name, value },
    })),
  ];
}

/** The variable that says how a connection reads texts. */
export const modeVariable = "sql_mode";

/** `SET` of one variable, for a connection under this `sql_mode`. The variable's name was checked when it was read. */
export function setStatement(name: string, value: string, mode?: string): string {
  const plain = /^-?\d+(?:\.\d+)?$/.test(value) || /^(?:on|off|true|false)$/i.test(value);
  // Servers of the family have two names for it, and this one statement.
  if (isolationVariables.has(name))
    return `SET SESSION TRANSACTION ISOLATION LEVEL ${value.replaceAll("-", " ").toUpperCase()}`;
  if (name === accessVariable)
    return `SET SESSION TRANSACTION READ ${/^on$/i.test(value) ? "ONLY" : "WRITE"}`;
  const quoted = readsBackslashes(mode) ? quotePlainText(value) : quoteText(value);
  return `SET SESSION ${quoteIdentifier(name)} = ${plain ? value : quoted}`;
}
