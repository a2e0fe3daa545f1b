/**
 * What one MySQL connection remembers beside the gateway's own session: an immutable value.
 *
 * A statement takes one in and leaves another behind; COM_RESET_CONNECTION goes back to the one of
 * the login.
 */
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { NextTransaction } from "@gateway/core/query/mysqlCall.ts";
import type { Session } from "@gateway/core/query/query.ts";
import type { Isolation } from "@gateway/core/sql/session/statement.ts";
import { utc, type Zone } from "@gateway/core/type/zone.ts";
import { isResultsName, type ResultsName } from "@gateway/wire/mysql/charset/characterSet.ts";
import { capability, mariadbCapability, serverStatus } from "@gateway/wire/mysql/protocol.ts";
import type { Tracked } from "@gateway/wire/mysql/reply.ts";
import { charsetOf, utf8mb4, type Charset } from "./charset.ts";
import type { Claim } from "../machine.ts";

/** A system or user variable. */
export type Setting = string | bigint | null;

/** Isolations as their variable names them. */
export const isolationNames = {
  readUncommitted: "READ-UNCOMMITTED",
  readCommitted: "READ-COMMITTED",
  repeatableRead: "REPEATABLE-READ",
  serializable: "SERIALIZABLE",
} as const satisfies Record<Isolation, string>;

/** What SHOW WARNINGS lists. */
export interface Warning {
  readonly level: "Note" | "Warning" | "Error";
  readonly errno: number;
  readonly text: string;
}

export interface ClientSession {
  readonly session: Session;
  /** As agreed with the client. */
  readonly capabilities: number;
  /** It reads MariaDB's block in each column definition, as agreed. */
  readonly extendedMetadata: boolean;
  readonly connectionId: number;
  readonly multiStatements: boolean;
  /** False: the first statement that may write begins a transaction. */
  readonly autocommit: boolean;
  /** Statements that may write are refused. */
  readonly readOnly: boolean;
  /** The same until the end of the transaction (`START TRANSACTION READ ONLY`). */
  readonly readOnlyTransaction: boolean;
  /** Of the next transaction alone; undefined where nothing was asked for. */
  readonly next: NextTransaction | undefined;
  /** How its texts are read; in what it is answered stands in `settings`. */
  readonly charset: Charset;
  readonly zone: Zone;
  /** Rows after which a SELECT ends; undefined means all. Set by `sql_select_limit`. */
  readonly rowLimit: number | undefined;
  /** Lower-case names of system variables that were set, and user variables with their `@`. */
  readonly settings: ReadonlyMap<string, Setting>;
  /** Of the last statement. */
  readonly warnings: readonly Warning[];
  /** Rows changed by the last statement, -1 after one with a result. */
  readonly rowCount: number;
  /** Rows of the last result. */
  readonly foundRows: number;
  /** Told with the next OK packet, then forgotten. */
  readonly tracked: readonly Tracked[];
}

/** Warnings kept for SHOW WARNINGS, as MySQL's `max_error_count`. */
const warningsMax = 1024;

/** Shared by all sessions that set nothing: most connections are at rest. */
const noSettings: ClientSession["settings"] = new Map();

/** The session of a login. */
export function openClientSession(
  session: Session,
  claim: Claim,
  connectionId: number,
): ClientSession {
  const charset = charsetOf(claim.collation);
  return {
    session,
    capabilities: claim.capabilities,
    extendedMetadata: (claim.mariadbCapabilities & mariadbCapability.extendedMetadata) !== 0,
    connectionId,
    multiStatements: (claim.capabilities & capability.multiStatements) !== 0,
    autocommit: true,
    readOnly: false,
    readOnlyTransaction: false,
    next: undefined,
    charset,
    zone: utc,
    rowLimit: undefined,
    settings: charset === utf8mb4 ? noSettings : new Map([["character_set_results", charset.name]]),
    warnings: [],
    rowCount: 0,
    foundRows: 0,
    tracked: [],
  };
}

/** The set that errors, and a server of MySQL's, are to answer in; undefined for utf8mb4, and for no set at all. */
export function resultsOf({ settings }: Pick<ClientSession, "settings">): ResultsName | undefined {
  const set = settings.get("character_set_results");
  return typeof set === "string" && isResultsName(set) ? set : undefined;
}

/** What `LAST_INSERT_ID()` answers: the last id that a server of the family made for the session; 0 for none. */
export function lastInsertId({ session }: ClientSession): bigint {
  return BigInt(session.settings.get("last_insert_id") ?? 0);
}

/** Seconds after which a MySQL server closes a connection that asks nothing. */
export const waitSecsDefault = 28_800n;

/** Milliseconds after which this session's connection is closed when it asks nothing. */
export function idleMsOf({ settings }: ClientSession): number {
  const secs = settings.get("wait_timeout");
  return Number(typeof secs === "bigint" ? secs : waitSecsDefault) * 1000;
}

/** Status flags as they are now. */
export function statusOf(client: ClientSession, moreResults = false): number {
  const { pin } = client.session;
  const isOpen = pin !== undefined && pin.state !== "ended";
  const readOnly = client.readOnlyTransaction ? serverStatus.inReadOnlyTransaction : 0;
  return (
    (client.autocommit ? serverStatus.autocommit : 0) |
    (isOpen ? serverStatus.inTransaction | readOnly : 0) |
    (hasPlainBackslashes(client) ? serverStatus.noBackslashEscapes : 0) |
    (moreResults ? serverStatus.moreResults : 0)
  );
}

/** Whether a backslash stands for itself in the strings of the client's texts. */
export function hasPlainBackslashes({ session }: Pick<ClientSession, "session">): boolean {
  const { settings } = session;
  if (settings !== lastModes.settings)
    lastModes = { settings, plain: readsBackslashes(settings.get("sql_mode")) };
  return lastModes.plain;
}

/** Of the settings that were looked at last: each statement asks several times, and none of it changes in a map. */
let lastModes: { readonly settings: Session["settings"] | undefined; readonly plain: boolean } = {
  settings: undefined,
  plain: false,
};

/** The same of an `sql_mode`. */
export function readsBackslashes(mode: string | undefined): boolean {
  return mode !== undefined && /\bNO_BACKSLASH_ESCAPES\b/i.test(mode);
}

/** Takes over what a query did to the session. */
export function withChange(client: ClientSession, change: SessionChange): ClientSession {
  switch (change.kind) {
    case "catalog":
      return withSchema(client, change.catalog, change.schema);
    case "setting": {
      const settings = new Map(client.session.settings);
      if (change.value === undefined) settings.delete(change.name);
      else settings.set(change.name, change.value);
      return { ...client, session: { ...client.session, settings } };
    }
    case "pinned":
      return inTransaction(
        {
          ...client,
          readOnlyTransaction: change.modes.readOnly === true,
          session: { ...client.session, pin: change.pin },
        },
        true,
      );
    case "divided":
    case "chained":
    // Only a query with a `call` of PostgreSQL's protocol is given these two.
    case "kept":
    case "released":
      return client;
    case "unpinned": {
      if (client.session.pin === undefined) return client;
      const session = { ...client.session, pin: undefined };
      return inTransaction({ ...client, readOnlyTransaction: false, session }, false);
    }
  }
}

/** Another default database. The client is told its name. */
export function withSchema(
  client: ClientSession,
  catalog: string | undefined,
  schema: string | undefined,
): ClientSession {
  const moved = { ...client, session: { ...client.session, catalog, schema } };
  return tracking(moved, { kind: "schema", name: schema ?? "" });
}

/** Variables whose changes the client is told by default, as on a MySQL server. */
export const trackedVariablesDefault =
  "time_zone,autocommit,character_set_client,character_set_results,character_set_connection";

/** Tells the client of a change with the next OK, as far as the session's `session_track_…` variables want it. */
export function tracking(client: ClientSession, change: Tracked): ClientSession {
  if (!isTracked(client, change)) return client;
  const tracked = [...client.tracked, change];
  const first = !client.tracked.some(({ kind }) => kind === "state");
  const alsoState = client.settings.get("session_track_state_change") === 1n && first;
  return { ...client, tracked: alsoState ? [...tracked, { kind: "state" }] : tracked };
}

function isTracked({ settings }: ClientSession, change: Tracked): boolean {
  switch (change.kind) {
    case "variable": {
      const names = String(
        settings.get("session_track_system_variables") ?? trackedVariablesDefault,
      );
      return names === "*" || names.split(",").some((name) => name.trim() === change.name);
    }
    case "schema":
      return settings.get("session_track_schema") !== 0n;
    case "characteristics":
      return transactionInfo(settings) === "CHARACTERISTICS";
    case "transaction":
      return transactionInfo(settings) !== "OFF";
    case "state":
      return true;
  }
}

function transactionInfo(settings: ClientSession["settings"]): string {
  return String(settings.get("session_track_transaction_info") ?? "OFF").toUpperCase();
}

/** Tells only that there is a transaction, not what it has read and written. */
function inTransaction(client: ClientSession, open: boolean): ClientSession {
  const began = client.readOnly ? "START TRANSACTION READ ONLY;" : "START TRANSACTION;";
  const first = tracking(client, { kind: "characteristics", sql: open ? began : "" });
  const mark = open ? (client.autocommit ? "T" : "I") : "_";
  return tracking(first, { kind: "transaction", marks: `${mark}_______` });
}

/** One more warning of the statement that runs; beyond the limit they are dropped, as on a server. */
export function withWarning(client: ClientSession, warning: Warning): ClientSession {
  if (client.warnings.length >= warningsMax) return client;
  return { ...client, warnings: [...client.warnings, warning] };
}
