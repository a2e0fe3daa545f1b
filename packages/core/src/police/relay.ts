/** What a client of ClickHouse's HTTP interface sends beside its statement, under access control: nothing that changes what the statement means. */
import { gatewayError, type GatewayError } from "../error.ts";
import type { Relay } from "../query/query.ts";

const harmless: ReadonlySet<string> = new Set([
  "buffer_size",
  "cancel_http_readonly_queries_on_client_close",
  "date_time_output_format",
  "default_format",
  "enable_http_compression",
  "extremes",
  "http_headers_progress_interval_ms",
  "log_comment",
  "max_block_size",
  "max_execution_time",
  "max_result_bytes",
  "max_result_rows",
  "max_threads",
  "readonly",
  "result_overflow_mode",
  "send_progress_in_http_headers",
  "session_timezone",
  "wait_end_of_query",
]);

/** Undefined where all of it may go to the engine. Rows are not read here, and may hold expressions. */
export function relayRefusal(relay: Relay | undefined): GatewayError | undefined {
  if (relay === undefined) return undefined;
  if (relay.body !== undefined) {
    return denied("rows behind a statement are not read");
  }
  const fields = [...relay.fields, ...relay.form].map(([name]) => name);
  const other = fields.find((name) => !isHarmless(name));
  if (other === undefined) return undefined;
  return denied(
    `the setting ${/^\w{1,100}$/.test(other) ? other : "in it"} may change what it means`,
  );
}

function isHarmless(name: string): boolean {
  return harmless.has(name) || name.startsWith("param_") || name.startsWith("output_format_");
}

function denied(why: string): GatewayError {
  return gatewayError("policy.denied", {
    message: `Tables are under access control here, and this statement is refused: ${why}.`,
  });
}
