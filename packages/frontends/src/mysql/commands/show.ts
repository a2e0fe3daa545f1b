/**
 * The `SHOW` family: what is about the server is answered here, what is about tables is asked of the
 * engine's `information_schema` (schema.ts), or in the client's words where every engine knows them. A SHOW
 * that is neither goes to the engine as it is.
 */
import {
  atEnd,
  looksAtWord,
  readTokens,
  takeOneOf,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { codecOf } from "../compression.ts";
import { ownErrors } from "../errors.ts";
import { integerColumn, textColumn, textRows, type LocalAnswer } from "./answer.ts";
import { isKept, packetLimit, packetLimitOf, settingOf } from "./engineVariables.ts";
import { utf8mb4 } from "../session/charset.ts";
import { takeFilter, type Row } from "./filter.ts";
import { showDatabases, showTables, showTableStatus } from "./schema.ts";
import { charsetColumns, charsetRows, serverTables } from "./server.ts";
import { showColumns, showCreateTable, showKeys, takesCreate } from "./table.ts";
import { nextText, takeLiteral } from "./take.ts";
import { isSwitch, variableNames, variableValue, type VariableContext } from "./variables.ts";

/** What a client may ask about its TLS connection. */
export interface Cipher {
  readonly name: string;
  readonly protocol: string;
  /** The client came back to a session of an earlier connection. */
  readonly resumed: boolean;
}

/** What clients may ask about the listener. */
export interface ServerFacts {
  readonly port: number;
  readonly tls: boolean;
  readonly startedMs: number;
  readonly cipher: Cipher;
}

export interface ShowContext extends VariableContext {
  /** Catalog that listings are about; asked for only where one is made. */
  readonly catalog: () => string | undefined;
  uptimeSecs: number;
  threads: number;
  /** Of the TLS connection; empty without TLS. */
  readonly cipher: Cipher;
}

/** The answer to a statement whose first word is SHOW; undefined when the engine has to answer. */
export function answerShow(sql: string, context: ShowContext): LocalAnswer | undefined {
  const reader = readTokens(sql, "mysql");
  if (reader === undefined || !takeWords(reader, "SHOW")) return undefined;
  if (!isAboutSession(reader) && context.ownWords()) return undefined;
  const listing = { schema: context.client.session.schema, catalog: context.catalog };
  takeWords(reader, "EXTENDED");
  const full = takeWords(reader, "FULL");
  if (takeWords(reader, "TABLES")) return showTables(reader, full, listing);
  if (takeOneOf(reader, ["COLUMNS", "FIELDS"]) !== undefined) {
    return showColumns(reader, full, listing);
  }
  if (takeWords(reader, "PROCESSLIST")) return showProcesses(reader);
  if (takeOneOf(reader, ["DATABASES", "SCHEMAS"]) !== undefined) {
    return showDatabases(reader, listing);
  }
  if (takeWords(reader, "TABLE", "STATUS")) return showTableStatus(reader, listing);
  if (takesCreate(reader)) return showCreateTable(reader, listing);
  if (takeOneOf(reader, ["INDEX", "INDEXES", "KEYS"]) !== undefined) {
    return showKeys(reader, listing);
  }
  return showServer(reader, context);
}

/** True for what is about the client's session, which is not a connection of the engine's. */
function isAboutSession(reader: TokenReader): boolean {
  if (looksAtWord(reader, ["GLOBAL"]) && looksAtWord(reader, ["STATUS"], 1)) return false;
  const scoped = looksAtWord(reader, ["SESSION", "GLOBAL", "LOCAL", "FULL"]) ? 1 : 0;
  return looksAtWord(reader, sessionWords, scoped);
}

const sessionWords = [
  "COUNT",
  "ERRORS",
  "GRANTS",
  "PROCESSLIST",
  "PROFILES",
  "STATUS",
  "VARIABLES",
  "WARNINGS",
];

function showServer(reader: TokenReader, context: ShowContext): LocalAnswer | undefined {
  const scope = takeOneOf(reader, ["SESSION", "GLOBAL", "LOCAL"]);
  if (takeWords(reader, "VARIABLES")) return showVariables(reader, scope, context);
  if (takeWords(reader, "STATUS")) return listed(reader, nameAndValue, statusRows(context));
  if (scope !== undefined) return undefined;
  const level = takeOneOf(reader, ["WARNINGS", "ERRORS"]);
  if (level !== undefined) return showWarnings(reader, level === "ERRORS", context);
  if (takeWords(reader, "COUNT")) return showCount(reader, context);

  if (takeWords(reader, "CHARACTER", "SET")) return listed(reader, charsetColumns, charsetRows);
  if (takeWords(reader, "STORAGE")) return storageEngines(reader);
  if (takeWords(reader, "GRANTS")) return showGrants(reader, context);
  const word = takeOneOf(reader, Object.keys(serverTables));
  if (word !== undefined) {
    const table = serverTables[word];
    return table === undefined ? undefined : listed(reader, table.columns, table.rows);
  }
  return showNothing(reader);
}

/** What a server without triggers, events and routines answers: no rows, under the right names. */
function showNothing(reader: TokenReader): LocalAnswer | undefined {
  const word = takeOneOf(reader, Object.keys(emptyResults));
  const columns = word === undefined ? undefined : emptyResults[word];
  if (columns === undefined) return undefined;
  const routine = word === "PROCEDURE" || word === "FUNCTION";
  if (routine && !takeWords(reader, "STATUS")) return undefined;
  return textRows(columns, []);
}

function showProcesses(reader: TokenReader): LocalAnswer {
  const test = takeFilter(reader, processColumns);
  if (test === undefined || !atEnd(reader))
    return { kind: "error", reply: ownErrors.syntax(nextText(reader)) };
  const make = (rows: readonly Row[]) => textRows(processColumns, rows.filter(test));
  return { kind: "processes", columns: processColumns.map(textColumn), make };
}

function listed(
  reader: TokenReader,
  columns: readonly string[],
  rows: readonly Row[],
): LocalAnswer {
  const test = takeFilter(reader, columns);
  if (test === undefined || !atEnd(reader)) {
    return { kind: "error", reply: ownErrors.syntax(nextText(reader)) };
  }
  return textRows(columns, rows.filter(test));
}

function showWarnings(
  reader: TokenReader,
  errorsOnly: boolean,
  { client }: ShowContext,
): LocalAnswer {
  const rows = client.warnings
    .filter(({ level }) => !errorsOnly || level === "Error")
    .map(({ level, errno, text }): readonly Value[] => [level, BigInt(errno), text]);
  if (takeWords(reader, "LIMIT")) {
    const first = takeLiteral(reader);
    const second = takeSymbol(reader, ",") ? takeLiteral(reader) : undefined;
    if (typeof first !== "bigint" || !atEnd(reader)) {
      return { kind: "error", reply: ownErrors.syntax("LIMIT") };
    }
    const from = typeof second === "bigint" ? Number(first) : 0;
    const count = Number(typeof second === "bigint" ? second : first);
    return { kind: "rows", columns: warningColumns, rows: rows.slice(from, from + count) };
  }
  return { kind: "rows", columns: warningColumns, rows };
}

/** `SHOW STORAGE ENGINES`. */
function storageEngines(reader: TokenReader): LocalAnswer | undefined {
  const table = serverTables["ENGINES"];
  if (table === undefined || !takeWords(reader, "ENGINES")) return undefined;
  return listed(reader, table.columns, table.rows);
}

/** `SHOW GRANTS [FOR CURRENT_USER]`: what the engine allows is not known here, so nothing more than a login is said. */
function showGrants(reader: TokenReader, { client }: ShowContext): LocalAnswer | undefined {
  if (takeWords(reader, "FOR")) {
    if (!takeWords(reader, "CURRENT_USER")) return undefined;
    if (takeSymbol(reader, "(")) takeSymbol(reader, ")");
  }
  if (!atEnd(reader)) return undefined;
  const { user } = client.session.identity;
  const account = `\`${user.replaceAll("`", "``")}\`@\`%\``;
  return textRows([`Grants for ${user}@%`], [[`GRANT USAGE ON *.* TO ${account}`]]);
}

/** `SHOW COUNT(*) WARNINGS`. */
function showCount(reader: TokenReader, context: ShowContext): LocalAnswer | undefined {
  if (!takeSymbol(reader, "(") || !takeSymbol(reader, "*") || !takeSymbol(reader, ")"))
    return undefined;
  const name = takeOneOf(reader, ["WARNINGS", "ERRORS"]);
  if (name === undefined) return undefined;
  const variable = name === "WARNINGS" ? "warning_count" : "error_count";
  const columns = [integerColumn(`@@session.${variable}`, true)];
  return { kind: "rows", columns, rows: [[variableValue(variable, context) ?? null]] };
}

/** Of an engine that speaks MySQL: its own, and in their places those that are kept here. */
function showVariables(
  reader: TokenReader,
  scope: string | undefined,
  context: ShowContext,
): LocalAnswer | undefined {
  if (!context.ownWords()) return listed(reader, nameAndValue, variableRows(context));
  if (scope === "GLOBAL") return undefined;
  const keeps = keepsOther(context);
  if (!keeps && !listsPacketLimit(reader, context)) return undefined;
  const { settings, pin } = context.client.session;
  // A server ends a list at the session's limit, which is meant for the rows behind the filter.
  const limit = Number(settings.get("sql_select_limit") ?? Infinity);
  // A transaction's connection has the limit already, and keeps it.
  if (limit !== Infinity && pin !== undefined) {
    if (!keeps) return undefined;
    const what = "SHOW VARIABLES under sql_select_limit in a transaction";
    return { kind: "error", reply: ownErrors.notSupported(what) };
  }
  return {
    kind: "asked",
    columns: variableColumns,
    sql: "SHOW SESSION VARIABLES",
    parameters: [],
    whole: true,
    make: (rows) => {
      const own = rows.map(([name = "", value = ""]) =>
        name !== null && isKept(name) ? [name, keptOf(name, value, context)] : [name, value],
      );
      const answer = listed(reader, nameAndValue, own);
      if (answer.kind !== "rows") return answer;
      return { ...answer, columns: variableColumns, rows: answer.rows.slice(0, limit) };
    },
  };
}

/** What the server says of a packet's length counts where it takes less. */
function keptOf(name: string, value: string | null, context: ShowContext): string {
  if (name !== packetLimit || !context.relays()) return shown(name, context);
  return String(packetLimitOf(settingOf(value), context));
}

/** Whether the filter that stands next leaves the limit of packets in, of which the server knows its own alone. */
function listsPacketLimit(reader: TokenReader, context: ShowContext): boolean {
  if (!context.relays()) return false;
  const start = reader.at;
  const test = takeFilter(reader, nameAndValue);
  // A filter that is not read here is the server's.
  const lists = atEnd(reader) && test?.([packetLimit, shown(packetLimit, context)]) === true;
  reader.at = start;
  return lists;
}

/** True where the session has a variable that the engine's connection has not. */
function keepsOther({ client }: ShowContext): boolean {
  const { autocommit, readOnly, charset, settings } = client;
  return !autocommit || readOnly || charset !== utf8mb4 || [...settings.keys()].some(isKept);
}

/** As MySQL's family describes them. */
const variableColumns = [
  { ...textColumn("Variable_name"), nullable: false },
  textColumn("Value"),
] as const;

function variableRows(context: ShowContext): readonly Row[] {
  return variableNames.map((name) => [name, shown(name, context)]);
}

function shown(name: string, context: ShowContext): string {
  const value = variableValue(name, context);
  if (value === null || value === undefined) return "";
  if (!isSwitch(name)) return String(value);
  return value === 1n ? "ON" : "OFF";
}

function statusRows(context: ShowContext): readonly Row[] {
  const compressed = codecOf(context.client.capabilities, undefined);
  return [
    ["Aborted_clients", "0"],
    ["Compression", compressed === undefined ? "OFF" : "ON"],
    ["Compression_algorithm", compressed?.name ?? ""],
    ["Ssl_cipher", context.cipher.name],
    ["Ssl_sessions_reused", context.cipher.resumed ? "1" : "0"],
    ["Ssl_version", context.cipher.protocol],
    ["Threads_connected", String(context.threads)],
    ["Uptime", String(context.uptimeSecs)],
  ];
}

const nameAndValue = ["Variable_name", "Value"];
const code: Column = {
  name: "Code",
  type: { kind: "integer", bits: 32, signed: false },
  nullable: false,
};
const warningColumns = [
  { ...textColumn("Level"), nullable: false },
  code,
  { ...textColumn("Message"), nullable: false },
];
const processColumns = ["Id", "User", "Host", "db", "Command", "Time", "State", "Info"];

const routineColumns = [
  "Db",
  "Name",
  "Type",
  "Definer",
  "Modified",
  "Created",
  "Security_type",
  "Comment",
  "character_set_client",
  "collation_connection",
  "Database Collation",
];

const emptyResults: Readonly<Record<string, readonly string[]>> = {
  EVENTS: ["Db", "Name", "Definer", "Time zone", "Type", "Execute at", "Status"],
  FUNCTION: routineColumns,
  PROCEDURE: routineColumns,
  PROFILES: ["Query_ID", "Duration", "Query"],
  TRIGGERS: ["Trigger", "Event", "Table", "Statement", "Timing", "Created", "sql_mode", "Definer"],
};
