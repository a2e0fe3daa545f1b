/**
 * Variables of the engine, where every engine speaks MySQL: all but those that are about the client's session or
 * its connection to this listener. They are asked of it and set on it, and never answered here.
 */
import type { Setting } from "../session/clientSession.ts";
import type { AskedRows, LocalAnswer } from "./answer.ts";

/** Longest packet, by which drivers cut what they send. */
export const packetLimit = "max_allowed_packet";

/** What is kept here whatever the engine is. */
const kept: ReadonlySet<string> = new Set([
  "autocommit",
  "character_set_client",
  "character_set_connection",
  "character_set_results",
  "error_count",
  "have_openssl",
  "have_ssl",
  "identity",
  "interactive_timeout",
  "last_insert_id",
  packetLimit,
  "net_read_timeout",
  "net_retry_count",
  "net_write_timeout",
  "port",
  "protocol_compression_algorithms",
  "pseudo_thread_id",
  "session_track_gtids",
  "session_track_schema",
  "session_track_state_change",
  "session_track_system_variables",
  "session_track_transaction_info",
  "time_zone",
  "transaction_read_only",
  "tx_read_only",
  "wait_timeout",
  "warning_count",
]);

/** Variables that hold for one statement, or that only a connection of one's own could keep. */
const ofOneStatement =
  /^(?:insert_id|rand_seed[12]|gtid_next|pseudo_\w+|debug\w*|profiling\w*|sql_log_bin)$/;

/** True for a variable that this listener answers itself. `name` is in lower case. */
export function isKept(name: string): boolean {
  return kept.has(name);
}

/** The names of the variables that this listener answers itself. */
export const keptNames: readonly string[] = [...kept];

/** True for a variable that a session here can not have. */
export function isOfOneStatement(name: string): boolean {
  return ofOneStatement.test(name);
}

/** What a client may send through this listener to the server that said this. */
export function packetLimitOf(
  told: Setting | undefined,
  { packetBytesMax }: { readonly packetBytesMax: () => number },
): bigint {
  const own = BigInt(packetBytesMax());
  return typeof told === "bigint" && told < own ? told : own;
}

/** Asks the engine for the values of these expressions, of which the answer is then made. */
export function askingFor(
  expressions: readonly string[],
  make: (values: ReadonlyMap<string, Setting>) => LocalAnswer,
): AskedRows {
  const asked = [...new Set(expressions)];
  return {
    kind: "asked",
    columns: [],
    keepsWarnings: true,
    // An explicit limit goes over the session's `sql_select_limit`.
    sql: `SELECT ${asked.join(", ")} LIMIT 1`,
    parameters: [],
    make: ([row = []]) =>
      make(new Map(asked.map((text, at) => [text, settingOf(row[at] ?? null)]))),
  };
}

/** Numbers come as text. */
export function settingOf(text: string | null): Setting {
  return text !== null && /^-?\d{1,20}$/.test(text) ? BigInt(text) : text;
}
