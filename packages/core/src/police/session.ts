/** Statements about the session that change nothing of how names or texts are read, and show no rows. */
import type { Statement } from "../sql/statement.ts";
import { isOfServer, type SettingChange, type SettingValue } from "../sql/session/statement.ts";

/** Settings that a session under a policy may change. Whatever else there is may read files, or change what a text means. */
const harmless: ReadonlySet<string> = new Set([
  "application_name",
  "autocommit",
  "bytea_output",
  "character_set_results",
  "client_encoding",
  "client_min_messages",
  "datestyle",
  "extra_float_digits",
  "idle_in_transaction_session_timeout",
  "interactive_timeout",
  "intervalstyle",
  "lock_timeout",
  "net_read_timeout",
  "net_write_timeout",
  "schema",
  "search_path",
  "statement_timeout",
  "time_zone",
  "timezone",
  "transaction_isolation",
  "tx_isolation",
  "wait_timeout",
]);

/** Settings that a session may look at, beside those that it may change. */
const shown: ReadonlySet<string> = new Set([
  "errors",
  "is_superuser",
  "max_identifier_length",
  "server_encoding",
  "server_version",
  "standard_conforming_strings",
  "transaction_read_only",
  "warnings",
]);

/** Encodings in which every ASCII byte is an ASCII character. */
const safeCharsets: ReadonlySet<string> = new Set([
  "utf8",
  "utf-8",
  "utf8mb3",
  "utf8mb4",
  "latin1",
  "ascii",
  "unicode",
]);

/** Listings of names that need no table. */
const listing = /^\s*SHOW\s+(?:TABLES|SCHEMAS|DATABASES|CATALOGS)\s*;?\s*$/i;

export function passesUnread({ kind, doubt, session, sql }: Statement): boolean {
  if (doubt !== undefined) return false;
  if (kind === "show") return listing.test(sql) || isSetting(session);
  if (session === undefined) return false;
  switch (session.kind) {
    case "use":
      return session.object !== "role" && session.object !== "secondary";
    case "set":
      return session.changes.every(isHarmless);
    case "reset":
      return harmless.has(session.name);
    default:
      return false;
  }
}

/** Of other names, `SHOW x` describes a table in some engines. */
function isSetting(session: Statement["session"]): boolean {
  return session?.kind === "show" && (harmless.has(session.name) || shown.has(session.name));
}

function isHarmless(change: SettingChange): boolean {
  if (isOfServer(change)) return false;
  switch (change.kind) {
    case "variable":
      return (
        harmless.has(change.name) && change.values.every((value) => isPlain(value, change.name))
      );
    case "names":
      return isSafe(change.charset);
    case "timeZone":
      return change.value.kind !== "raw";
    case "transaction":
      return true;
    case "userVariable":
    case "role":
    case "authorization":
      return false;
  }
}

function isPlain(value: SettingValue, name: string): boolean {
  if (name === "client_encoding") return isSafe(value);
  return value.kind !== "raw";
}

function isSafe(value: SettingValue): boolean {
  if (value.kind === "default") return true;
  return (
    (value.kind === "text" || value.kind === "word") && safeCharsets.has(value.text.toLowerCase())
  );
}
