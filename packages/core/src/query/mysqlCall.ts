/** What goes with a statement from a client of MySQL's protocol to a server that speaks it. */
import type { TransactionModes } from "../sql/session/statement.ts";
import type { Home } from "./home.ts";

export interface MysqlCall {
  /** Where what the statement leaves on its connection is kept for the same client. */
  readonly home: Home;
  /** The client counts rows that were found instead of those that changed (CLIENT_FOUND_ROWS of its login). */
  readonly foundRows: boolean;
  /** Blanks may stand before the bracket of a function (CLIENT_IGNORE_SPACE of its login). */
  readonly ignoreSpace: boolean;
  /** The client reads MariaDB's blocks in column definitions, where the server sends them; absent where it does not. */
  readonly extendedMetadata?: boolean | undefined;
  /** The character set of definitions, rows and errors, by the server's name; absent for utf8mb4. Only what goes on as packets. */
  readonly results?: string | undefined;
  /** What the transaction that this begins, or is, has for itself alone; absent where it is as those of its session. */
  readonly next?: NextTransaction | undefined;
  /** Named values that the client sent with the statement (CLIENT_QUERY_ATTRIBUTES); absent where there are none. */
  readonly attributes?: MysqlAttributes | undefined;
  /** Variables of this statement alone, `a = 1, b = 'x'`, of a server that has such (`SET STATEMENT`); absent without. */
  readonly settings?: string | undefined;
  /** An execution of a prepared statement; absent for a text that is run as it is. */
  readonly execution?: MysqlExecution | undefined;
  /** Files of the client's machine; absent where its login does not offer them. */
  readonly files?: MysqlFiles | undefined;
}

/** What stands in front of a text for its own variables. A server without such says so in its own words. */
export function settingsOf({ settings }: Pick<MysqlCall, "settings">): string {
  return settings === undefined ? "" : `SET STATEMENT ${settings} FOR `;
}

/** A statement with its variables: what its record says, and what its client wrote but for blanks and comments. */
export function withSettings(sql: string, call: MysqlCall | undefined): string {
  return call?.settings === undefined ? sql : settingsOf(call) + sql;
}

/** What `SET TRANSACTION` said of the next transaction alone. One of both at least is there. */
export type NextTransaction = Pick<TransactionModes, "isolation" | "readOnly">;

/** At least one, in the form of COM_QUERY, texts as UTF-8. A server that does not take them gets no statement with any. */
export interface MysqlAttributes {
  readonly count: number;
  /** NULL bitmap. */
  readonly nulls: Uint8Array;
  /** Type and name of each. */
  readonly types: Uint8Array;
  readonly values: Uint8Array;
}

/** Values of one execution in the form of COM_STMT_EXECUTE, as the client sent them. */
export interface MysqlExecution {
  readonly parameters: number;
  /** NULL bitmap, the mark that types follow, types, values; empty without parameters. */
  readonly body: Uint8Array;
  /** Values that came ahead (COM_STMT_SEND_LONG_DATA), by parameter. They are not in the body. */
  readonly longData: ReadonlyMap<number, Uint8Array>;
  /** Its rows stay with the server, in a cursor that only reads; absent where they all come at once. */
  readonly cursor?: MysqlCursor | undefined;
}

/** A cursor from its execution until its stream of events ends. */
export interface MysqlCursor {
  /** How many rows its client asked for and does not have: as many are fetched when the next event is asked for. */
  wanted: number;
}

/** How a client is asked for the file of its LOAD DATA LOCAL. */
export interface MysqlFiles {
  /** Asks the client for the file. Once for a statement. */
  ask(name: Uint8Array): Promise<void>;
  /** The next piece. `left`: the client is gone, and what it sent is no whole file. */
  next(): Promise<Uint8Array | "end" | "left">;
}
