/**
 * The `SHOW` family: what is about the server is answered here, what is about tables is asked of the
 * engine's `information_schema` (schema.ts). A SHOW that is neither goes to the engine as it is.
 */
import {
  atEnd,
  readTokens,
  takeOneOf,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/tokenReader.ts";
import { ownErrors } from "../errors.ts";
import { textRows, type LocalAnswer } from "./answer.ts";
import { takeFilter, type Row } from "./filter.ts";
import { showColumns, showDatabases, showTables, showTableStatus } from "./schema.ts";
import { nextText, takeLiteral } from "./take.ts";
import { isSwitch, variableNames, variableValue, type VariableContext } from "./variables.ts";

export interface ShowContext extends VariableContext {
  /** Catalog that listings are about; asked for only where one is made. */
  readonly catalog: () => string | undefined;
  /** Connections of the same user, for SHOW PROCESSLIST. */
  readonly processes: () => readonly Row[];
  readonly uptimeSecs: number;
  readonly threads: number;
  /** Of the TLS connection; empty without TLS. */
  readonly cipher: { readonly name: string; readonly protocol: string };
}

/** The answer to a statement whose first word is SHOW; undefined when the engine has to answer. */
export function answerShow(sql: string, context: ShowContext): LocalAnswer | undefined {
  const reader = readTokens(sql, "mysql");
  if (reader === undefined || !takeWords(reader, "SHOW")) return undefined;
  const listing = { schema: context.client.session.schema, catalog: context.catalog };
  takeWords(reader, "EXTENDED");
  const full = takeWords(reader, "FULL");
  if (takeWords(reader, "TABLES")) return showTables(reader, full, listing);
  if (takeOneOf(reader, ["COLUMNS", "FIELDS"]) !== undefined) {
    return showColumns(reader, full, listing);
  }
  if (takeWords(reader, "PROCESSLIST")) return listed(reader, processColumns, context.processes());
  if (takeOneOf(reader, ["DATABASES", "SCHEMAS"]) !== undefined) {
    return showDatabases(reader, listing);
  }
  if (takeWords(reader, "TABLE", "STATUS")) return showTableStatus(reader, listing);
  return showServer(reader, context);
}

function showServer(reader: TokenReader, context: ShowContext): LocalAnswer | undefined {
  const scope = takeOneOf(reader, ["SESSION", "GLOBAL", "LOCAL"]);
  if (takeWords(reader, "VARIABLES")) return listed(reader, nameAndValue, variableRows(context));
  if (takeWords(reader, "STATUS")) return listed(reader, nameAndValue, statusRows(context));
  if (scope !== undefined) return undefined;
  const level = takeOneOf(reader, ["WARNINGS", "ERRORS"]);
  if (level !== undefined) return showWarnings(reader, level === "ERRORS", context);
  if (takeWords(reader, "COUNT")) return showCount(reader, context);

  if (takeWords(reader, "CHARACTER", "SET")) return listed(reader, charsetColumns, charsetRows);
  const word = takeOneOf(reader, Object.keys(tables));
  if (word !== undefined) {
    const table = tables[word];
    return table === undefined ? undefined : listed(reader, table.columns, table.rows);
  }
  return showNothing(reader);
}

/** What a server without triggers, events, routines and keys answers: no rows, under the right names. */
function showNothing(reader: TokenReader): LocalAnswer | undefined {
  const word = takeOneOf(reader, Object.keys(emptyResults));
  const columns = word === undefined ? undefined : emptyResults[word];
  if (columns === undefined) return undefined;
  const routine = word === "PROCEDURE" || word === "FUNCTION";
  if (routine && !takeWords(reader, "STATUS")) return undefined;
  return textRows(columns, []);
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
    .map(({ level, errno, text }) => [level, String(errno), text]);
  if (takeWords(reader, "LIMIT")) {
    const first = takeLiteral(reader);
    const second = takeSymbol(reader, ",") ? takeLiteral(reader) : undefined;
    if (typeof first !== "bigint" || !atEnd(reader)) {
      return { kind: "error", reply: ownErrors.syntax("LIMIT") };
    }
    const from = typeof second === "bigint" ? Number(first) : 0;
    const count = Number(typeof second === "bigint" ? second : first);
    return textRows(warningColumns, rows.slice(from, from + count));
  }
  return textRows(warningColumns, rows);
}

/** `SHOW COUNT(*) WARNINGS`. */
function showCount(reader: TokenReader, context: ShowContext): LocalAnswer | undefined {
  if (!takeSymbol(reader, "(") || !takeSymbol(reader, "*") || !takeSymbol(reader, ")"))
    return undefined;
  const name = takeOneOf(reader, ["WARNINGS", "ERRORS"]);
  if (name === undefined) return undefined;
  const variable = name === "WARNINGS" ? "warning_count" : "error_count";
  return textRows([`@@session.${variable}`], [[String(variableValue(variable, context))]]);
}

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
  return [
    ["Aborted_clients", "0"],
    ["Compression", "OFF"],
    ["Ssl_cipher", context.cipher.name],
    ["Ssl_version", context.cipher.protocol],
    ["Threads_connected", String(context.threads)],
    ["Uptime", String(context.uptimeSecs)],
  ];
}

const nameAndValue = ["Variable_name", "Value"];
const warningColumns = ["Level", "Code", "Message"];
const processColumns = ["Id", "User", "Host", "db", "Command", "Time", "State", "Info"];

const charsetColumns = ["Charset", "Description", "Default collation", "Maxlen"];
const charsetRows: readonly Row[] = [
  ["ascii", "US ASCII", "ascii_general_ci", "1"],
  ["binary", "Binary pseudo charset", "binary", "1"],
  ["latin1", "cp1252 West European", "latin1_swedish_ci", "1"],
  ["utf8mb3", "UTF-8 Unicode", "utf8mb3_general_ci", "3"],
  ["utf8mb4", "UTF-8 Unicode", "utf8mb4_0900_ai_ci", "4"],
];

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

const collations: Table = {
  columns: ["Collation", "Charset", "Id", "Default", "Compiled", "Sortlen", "Pad_attribute"],
  rows: [
    ["ascii_general_ci", "ascii", "11", "Yes", "Yes", "1", "PAD SPACE"],
    ["binary", "binary", "63", "Yes", "Yes", "1", "NO PAD"],
    ["latin1_swedish_ci", "latin1", "8", "Yes", "Yes", "1", "PAD SPACE"],
    ["utf8mb3_general_ci", "utf8mb3", "33", "Yes", "Yes", "1", "PAD SPACE"],
    ["utf8mb4_0900_ai_ci", "utf8mb4", "255", "Yes", "Yes", "0", "NO PAD"],
    ["utf8mb4_bin", "utf8mb4", "46", "", "Yes", "1", "PAD SPACE"],
    ["utf8mb4_general_ci", "utf8mb4", "45", "", "Yes", "1", "PAD SPACE"],
    ["utf8mb4_unicode_ci", "utf8mb4", "224", "", "Yes", "8", "PAD SPACE"],
  ],
};

const engines: Table = {
  columns: ["Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"],
  rows: [["Gateway", "DEFAULT", "Tables of the cluster behind the gateway", "YES", "NO", "NO"]],
};

const plugins: Table = {
  columns: ["Name", "Status", "Type", "Library", "License"],
  rows: [
    ["caching_sha2_password", "ACTIVE", "AUTHENTICATION", null, "Apache-2.0"],
    ["mysql_clear_password", "ACTIVE", "AUTHENTICATION", null, "Apache-2.0"],
  ],
};

const tables: Readonly<Record<string, Table>> = {
  CHARSET: { columns: charsetColumns, rows: charsetRows },
  COLLATION: collations,
  ENGINES: engines,
  PLUGINS: plugins,
};

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

const keyColumns = [
  "Table",
  "Non_unique",
  "Key_name",
  "Seq_in_index",
  "Column_name",
  "Collation",
  "Cardinality",
  "Sub_part",
  "Packed",
  "Null",
  "Index_type",
  "Comment",
  "Index_comment",
  "Visible",
  "Expression",
];

const emptyResults: Readonly<Record<string, readonly string[]>> = {
  EVENTS: ["Db", "Name", "Definer", "Time zone", "Type", "Execute at", "Status"],
  FUNCTION: routineColumns,
  INDEX: keyColumns,
  INDEXES: keyColumns,
  KEYS: keyColumns,
  PROCEDURE: routineColumns,
  PROFILES: ["Query_ID", "Duration", "Query"],
  TRIGGERS: ["Trigger", "Event", "Table", "Statement", "Timing", "Created", "sql_mode", "Definer"],
};
