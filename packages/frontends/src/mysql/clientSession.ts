/**
 * What one MySQL connection remembers beside the gateway's own session: an immutable value.
 *
 * A statement takes one in and leaves another behind; COM_RESET_CONNECTION goes back to the one of
 * the login.
 */
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { utc, type Zone } from "@gateway/core/type/zone.ts";
import { capability, serverStatus } from "@gateway/wire/mysql/protocol.ts";
import type { Tracked } from "@gateway/wire/mysql/reply.ts";
import { charsetOf, type Charset } from "./charset.ts";
import type { Claim } from "./machine.ts";

/** A system or user variable. */
export type Setting = string | bigint | null;

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
  readonly connectionId: number;
  readonly multiStatements: boolean;
  /** False: the first statement that may write begins a transaction. */
  readonly autocommit: boolean;
  /** Statements that may write are refused. */
  readonly readOnly: boolean;
  /** The same until the end of the transaction (`START TRANSACTION READ ONLY`). */
  readonly readOnlyTransaction: boolean;
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

/** The session of a login. */
export function openClientSession(
  session: Session,
  claim: Claim,
  connectionId: number,
): ClientSession {
  return {
    session,
    capabilities: claim.capabilities,
    connectionId,
    multiStatements: (claim.capabilities & capability.multiStatements) !== 0,
    autocommit: true,
    readOnly: false,
    readOnlyTransaction: false,
    charset: charsetOf(claim.collation),
    zone: utc,
    rowLimit: undefined,
    settings: new Map(),
    warnings: [],
    rowCount: 0,
    foundRows: 0,
    tracked: [],
  };
}

/** Status flags as they are now. */
export function statusOf(client: ClientSession, moreResults = false): number {
  const { pin } = client.session;
  return (
    (client.autocommit ? serverStatus.autocommit : 0) |
    (pin === undefined || pin.state === "ended" ? 0 : serverStatus.inTransaction) |
    (moreResults ? serverStatus.moreResults : 0)
  );
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
      return { ...client, session: { ...client.session, pin: change.pin } };
    case "unpinned":
      return {
        ...client,
        readOnlyTransaction: false,
        session: { ...client.session, pin: undefined },
      };
  }
}

/** Another default database. The client is told its name. */
export function withSchema(
  client: ClientSession,
  catalog: string | undefined,
  schema: string | undefined,
): ClientSession {
  return {
    ...client,
    session: { ...client.session, catalog, schema },
    tracked: [...client.tracked, { kind: "schema", name: schema ?? "" }],
  };
}

/** One more warning of the statement that runs; beyond the limit they are dropped, as on a server. */
export function withWarning(client: ClientSession, warning: Warning): ClientSession {
  if (client.warnings.length >= warningsMax) return client;
  return { ...client, warnings: [...client.warnings, warning] };
}
