/**
 * What of a session PostgreSQL itself has to know, as steps on a connection: where names are looked for, how
 * times and dates are read, how transactions are isolated, and what is the client's own. Other settings are the frontend's.
 */
import type { ConnectionStep } from "../../native/message.ts";
import type { SessionContext } from "../profile.ts";
import { quoteIdentifier, quoteText } from "./quote.ts";

/** Steps for what the session chose; each replaces the one before of the same name. */
export function postgresSteps({ schema, settings, dialect }: SessionContext): readonly string[] {
  const own = dialect === "postgres";
  const path = own ? settings.get("search_path") : undefined;
  const zone = settings.get("timezone");
  const isolation = own ? settings.get("default_transaction_isolation") : undefined;
  const others = own ? [...settings].filter(([name]) => isKept(name)) : [];
  const chosen = [
    ...others,
    ["search_path", path ?? (schema === undefined ? undefined : quoteIdentifier(schema))],
    ["TimeZone", zone === undefined ? undefined : zoneName(zone)],
    ["default_transaction_isolation", isolation],
  ] as const;
  return chosen.flatMap(([name, value]) => (value === undefined ? [] : [stepOf(name, value)]));
}

/** Settings that change what a statement does or answers, and the client's own, which policies and triggers read. */
function isKept(name: string): boolean {
  return meaning.has(name) || (ownName.test(name) && !name.startsWith("gateway."));
}

const ownName = /^[a-z_]\w*\.\w+$/i;

const meaning: ReadonlySet<string> = new Set([
  "datestyle",
  "lock_timeout",
  "default_text_search_config",
  "lc_monetary",
  "lc_numeric",
  "lc_time",
  "row_security",
  "check_function_bodies",
  "xmlbinary",
  "xmloption",
  "session_replication_role",
  "default_tablespace",
  "default_table_access_method",
]);

function stepOf(name: string, value: string): string {
  return `SELECT set_config(${quoteText(name)}, ${quoteText(value)}, false)`;
}

/** An offset by ISO's sign, which is the opposite of the one that PostgreSQL gives a bare offset. */
function zoneName(zone: string): string {
  const [, sign, offset] = /^([+-])(\d{1,2}(?::\d{2}){0,2})$/.exec(zone) ?? [];
  if (sign === undefined || offset === undefined) return zone;
  return `<${zone}>${sign === "+" ? "-" : "+"}${offset}`;
}

/** The step that undoes `step` of this file: what the connection began with is back. */
export function undoneStep(step: ConnectionStep): string | undefined {
  if (typeof step !== "string") return undefined;
  const [, name] = /^SELECT set_config\('([\w.]+)'/.exec(step) ?? [];
  return name === undefined ? undefined : `RESET ${name}`;
}
