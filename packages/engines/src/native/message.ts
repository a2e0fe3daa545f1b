/**
 * What the main thread and a driver's thread say to each other. One request at a time; every request
 * is answered by exactly one `reply`, and `execute` by messages of a result before it.
 */
import type { TableKey } from "@gateway/core/port/backend.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import type { AdbcFailure, AdbcResult } from "./driver.ts";
import type { Address } from "./memory/native.ts";

/** What a driver's process is told beside its lines. */
export type ProcessMessage =
  | {
      readonly kind: "start";
      readonly library: DriverLibrary;
      /** Resident bytes beyond which the process gives up; undefined: as many as there are. */
      readonly memoryMax: number | undefined;
      /** Most seats that it gives over its whole life. */
      readonly seats: number;
      /** How many lines it has, if behind their descriptors there is one of memory for them; undefined: there is not. */
      readonly sharedLines: number | undefined;
    }
  /** Starts the thread that reads a line. */
  | { readonly kind: "open"; readonly line: number }
  | { readonly kind: "cancel"; readonly line: number; readonly turn: number }
  /** Answered at once, unless the process hangs. The next one comes soon, unless the gateway does. */
  | { readonly kind: "ping" }
  /** Nobody waits for anything: no `ping` will come. */
  | { readonly kind: "idle" };

/** What a driver's process says beside its lines: that it lives, or that it took more memory than it may. */
export type ProcessReport = "pong" | "overgrown";

/** Which driver to call. */
export interface DriverLibrary {
  readonly library: string;
  readonly entrypoint: string;
  /** `duckDb`: statements are looked at through the DuckDB C API that the same library has. */
  readonly inspect: "none" | "duckDb";
}

/** What a thread is started with. */
export interface ThreadData extends DriverLibrary {
  readonly control: SharedArrayBuffer;
  /** What all threads of the process keep open (seats.ts). */
  readonly seats: SharedArrayBuffer;
  /** The line that it reads; undefined: it gets messages instead. */
  readonly line: ThreadLine | undefined;
}

export interface ThreadLine {
  readonly descriptor: number;
  /** That of the memory for large messages, if there is any, and the line's number in it. */
  readonly memory: { readonly descriptor: number; readonly line: number } | undefined;
}

export interface DatabaseOptions {
  /** Set before the database is opened, in this order. */
  readonly options: readonly Option[];
  /** Statements run once on a connection of their own, in order, before anybody else has one. */
  readonly setup: readonly SetupStatement[];
  /** Opened without a trial login: whoever opens it connects next anyway. */
  readonly untried?: boolean;
  /** It is the seat's, and closed when the seat is left. Absent: whoever opened it closes it. */
  readonly ofSeat?: boolean;
}

export interface SetupStatement {
  readonly sql: string;
  /** A statement with a label may fail: the database opens without what it would have made. */
  readonly label?: string;
}

/** A labelled statement that failed. */
export interface SkippedStatement {
  readonly label: string;
  readonly failure: AdbcFailure;
}

/** A statement and what it may be. */
export interface StatementRequest {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  /** Runs on a new connection that is closed behind it; undefined means the seat's kept connection. */
  readonly database: Address | undefined;
  /** Taken before it on the same connection, such as the choice of a schema. */
  readonly before: readonly ConnectionStep[];
  /** What the engine itself must say about the text before it runs; undefined asks nothing. Needs `inspect`. */
  readonly expected: ExpectedStatement | undefined;
  /** Set on the statement before its text, in this order. */
  readonly options?: readonly Option[];
  /** About so many bytes of rows in a message, once many have come; undefined: as many as suit who reads cell by cell. */
  readonly messageBytes?: number | undefined;
  /** Nobody wants rows: drivers that count changes only then are asked without a stream. */
  readonly rowless?: boolean;
}

/** A driver's own key and value. */
export type Option = readonly [key: string, value: string];

/** What prepares a connection: a statement whose result nobody wants, or one of `contextOptions`. */
export type ConnectionStep = string | Option;

/** ADBC's options for the catalog and schema of a connection. Set in this order: another catalog may bring another schema. */
export const contextOptions = {
  catalog: "adbc.connection.catalog",
  schema: "adbc.connection.db_schema",
} as const;

/** How a catalog without a name is shown, and a schema without one in it. */
export const namelessCatalog = "adbc";
export const namelessSchema = "main";

/** Checked by the engine's own parser, whose word counts. */
export interface ExpectedStatement {
  /** Numbers of the engine's kinds of statement that may run. */
  readonly types: readonly number[];
  /** The text may be one statement that the engine reads as several, of which all but the last are of type `expandedType`. */
  readonly expandedType: number | undefined;
}

/** What a driver is asked about its tables, on a new connection or on the kept one as a statement is. */
export interface ObjectsRequest extends Pick<StatementRequest, "database" | "before"> {
  /** `tables`: without their columns. */
  readonly depth: "tables" | "columns";
  /** Most tables and columns together. */
  readonly entriesMax: number;
}

/** Tables whose columns are asked for one by one, on a connection as `ObjectsRequest` has it. */
export interface SchemasRequest extends Pick<StatementRequest, "database" | "before"> {
  readonly tables: readonly Pick<ListedTable, "catalog" | "schema" | "name">[];
}

/** A table as its driver lists it. Names are undefined where it has none. */
export interface ListedTable {
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
  readonly name: string;
  /** The vendor's word: `BASE TABLE`, `view`. */
  readonly type: string;
  /** Undefined when the driver was not asked for them, or does not say. */
  readonly columns: readonly ListedColumn[] | undefined;
  readonly keys: readonly TableKey[];
}

/** A column as its driver lists it; drivers leave out what they like but the name. */
export interface ListedColumn {
  readonly name: string;
  /** The vendor's name of the type. */
  readonly typeName: string | undefined;
  /** Its number in the X/Open catalogue of types (`SQL_VARCHAR` is 12). */
  readonly typeCode: number | undefined;
  readonly size: number | undefined;
  readonly digits: number | undefined;
  readonly nullable: boolean;
}

export type Request =
  | { readonly kind: "openDatabase"; readonly database: DatabaseOptions }
  | { readonly kind: "closeDatabase"; readonly database: Address }
  | {
      readonly kind: "connect";
      readonly database: Address;
      readonly before: readonly ConnectionStep[];
    }
  | { readonly kind: "disconnect" }
  /** Closes everything that the seat has open, before it is left. */
  | { readonly kind: "vacate" }
  /** Steps on the kept connection. */
  | { readonly kind: "runAll"; readonly statements: readonly ConnectionStep[] }
  /** Begins a transaction on the kept connection, then runs statements in it. */
  | { readonly kind: "begin"; readonly statements: readonly string[] }
  /** Ends the transaction; afterwards each statement is one of its own again. */
  | { readonly kind: "end"; readonly how: "commit" | "rollback" }
  | { readonly kind: "execute"; readonly statement: StatementRequest }
  /** `columnsOnly`: as the statement would have them with the values that it is given. */
  | {
      readonly kind: "describe";
      readonly statement: StatementRequest;
      readonly columnsOnly?: boolean;
    }
  | { readonly kind: "objects"; readonly objects: ObjectsRequest }
  | { readonly kind: "catalogs"; readonly catalogs: Pick<StatementRequest, "database" | "before"> }
  | { readonly kind: "schemas"; readonly schemas: SchemasRequest };

/** What a statement was, once it has run. */
export interface Executed {
  /** Rows changed as the driver says; undefined when it does not. */
  readonly rowsAffected: number | undefined;
  /** The engine's own number for the kind of statement; undefined without `inspect`. */
  readonly statementType: number | undefined;
}

export interface Described {
  /** The schema message of the result; undefined when the engine can not name the columns before it has values of the parameters. */
  readonly schema: ArrayBuffer | undefined;
  /** Undefined where the engine can not tell. */
  readonly parameters: readonly (DataType | undefined)[];
  readonly statementType: number | undefined;
}

export interface OpenedDatabase {
  readonly address: Address;
  readonly skipped: readonly SkippedStatement[];
}

export type Reply =
  | { readonly kind: "done" }
  | { readonly kind: "opened"; readonly opened: OpenedDatabase }
  | { readonly kind: "executed"; readonly executed: Executed }
  | { readonly kind: "described"; readonly described: Described }
  /** Behind the last table. Not `complete`: there are more than were asked for. */
  | { readonly kind: "listed"; readonly complete: boolean }
  | { readonly kind: "catalogs"; readonly names: readonly string[] }
  /** A schema message for each table, undefined where the driver has none. */
  | { readonly kind: "schemas"; readonly schemas: readonly (ArrayBuffer | undefined)[] };

export type ResultMessage =
  /** The first message of a result; `statementType` is known before any row is. */
  | {
      readonly kind: "schema";
      readonly message: ArrayBuffer;
      readonly statementType: number | undefined;
    }
  | BatchResult
  | { readonly kind: "tables"; readonly tables: readonly ListedTable[] };

/** Rows, as a message from the start of its buffer. */
export interface BatchResult {
  readonly kind: "batch";
  readonly message: Uint8Array<ArrayBuffer>;
  /** Where its memory is used again: called once by who has read all of it. */
  readonly release?: () => void;
}

/** Sent in groups: what is ready together travels together. */
export type ThreadMessage =
  | ResultMessage
  | { readonly kind: "reply"; readonly reply: AdbcResult<Reply> };
