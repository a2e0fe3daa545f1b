/**
 * The `SHOW` family: what is about the server is answered here, what is about tables is asked of the
 * engine's `information_schema` (schema.ts). A SHOW that is neither goes to the engine as it is.
 */
import { ownErrors } from "../errors.ts";
import { textRows, type LocalAnswer } from "./answer.ts";
import { takeFilter, type Row } from "./filter.ts";
import { showColumns, showDatabases, showTables, showTableStatus } from "./schema.ts";
import { TokenWalk, type Token } from "./tokens.ts";
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
export function answerShow(
  tokens: readonly Token[],
  context: ShowContext,
): LocalAnswer | undefined {
  const walk = new TokenWalk(tokens);
  walk.takeWords("SHOW");
  const listing = { schema: context.client.session.schema, catalog: context.catalog };
  walk.takeWords("EXTENDED");
  const full = walk.takeWords("FULL");
  if (walk.takeWords("TABLES")) return showTables(walk, full, listing);
  if (walk.takeOneOf("COLUMNS", "FIELDS") !== undefined) {
    return showColumns(walk, full, listing);
  }
  if (walk.takeWords("PROCESSLIST")) return listed(walk, processColumns, context.processes());
  if (walk.takeOneOf("DATABASES", "SCHEMAS") !== undefined) {
    return showDatabases(walk, listing);
  }
  if (walk.takeWords("TABLE", "STATUS")) return showTableStatus(walk, listing);
  return showServer(walk, context);
}

function showServer(walk: TokenWalk, context: ShowContext): LocalAnswer | undefined {
  const scope = walk.takeOneOf("SESSION", "GLOBAL", "LOCAL");
  if (walk.takeWords("VARIABLES")) return listed(walk, nameAndValue, variableRows(context));
  if (walk.takeWords("STATUS")) return listed(walk, nameAndValue, statusRows(context));
  if (scope !== undefined) return undefined;
  if (walk.takeOneOf("WARNINGS", "ERRORS") !== undefined) return showWarnings(walk, context);
  if (walk.takeWords("COUNT")) return showCount(walk, context);

  if (walk.takeWords("CHARACTER", "SET")) return listed(walk, charsetColumns, charsetRows);
  const word = walk.takeOneOf(...Object.keys(tables));
  if (word !== undefined) {
    const table = tables[word];
    return table === undefined ? undefined : listed(walk, table.columns, table.rows);
  }
  return showNothing(walk);
}

/** What a server without triggers, events, routines and keys answers: no rows, under the right names. */
function showNothing(walk: TokenWalk): LocalAnswer | undefined {
  const { word } = walk.next;
  const columns = emptyResults[word];
  if (columns === undefined) return undefined;
  if (word === "PROCEDURE" || word === "FUNCTION") {
    walk.at += 1;
    if (!walk.takeWords("STATUS")) return undefined;
  }
  return textRows(columns, []);
}

function listed(
  walk: TokenWalk,
  columns: readonly string[],
  rows: readonly Row[],
): LocalAnswer {
  const test = takeFilter(walk, columns);
  if (test === undefined || !walk.done) {
    return { kind: "error", reply: ownErrors.syntax(walk.next.text) };
  }
  return textRows(columns, rows.filter(test));
}

function showWarnings(walk: TokenWalk, { client }: ShowContext): LocalAnswer {
  const errorsOnly = walk.tokens[walk.at - 1]?.word === "ERRORS";
  const rows = client.warnings
    .filter(({ level }) => !errorsOnly || level === "Error")
    .map(({ level, errno, text }) => [level, String(errno), text]);
  if (walk.takeWords("LIMIT")) {
    const first = walk.takeLiteral();
    const second = walk.takeSign(",") ? walk.takeLiteral() : undefined;
    if (typeof first !== "bigint" || !walk.done) {
      return { kind: "error", reply: ownErrors.syntax("LIMIT") };
    }
    const from = typeof second === "bigint" ? Number(first) : 0;
    const count = Number(typeof second === "bigint" ? second : first);
    return textRows(warningColumns, rows.slice(from, from + count));
  }
  return textRows(warningColumns, rows);
}

/** `SHOW COUNT(*) WARNINGS`. */
function showCount(walk: TokenWalk, context: ShowContext): LocalAnswer | undefined {
  if (!walk.takeSign("(") || !walk.takeSign("*") || !walk.takeSign(")")) return undefined;
  const name = walk.takeOneOf("WARNINGS", "ERRORS");
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
