/** What a client of ClickHouse's own HTTP interface may ask of a cluster beside its statement. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ClickHouseConfig } from "../config.ts";
import type { Caller } from "../identity.ts";
import type { RelayedAsk } from "./wire.ts";

/** Fields by which a request says who it is, where it runs and what it is: the gateway's own, whoever sends them. */
const ownFields: ReadonlySet<string> = new Set([
  "cancel_http_readonly_queries_on_client_close",
  "close_session",
  "database",
  "decompress",
  "password",
  "query",
  "query_id",
  "quota_key",
  "role",
  "session_check",
  "session_id",
  "session_timeout",
  "stacktrace",
  "user",
]);

/**
 * Undefined for a query of another protocol. `query.permission` for a setting that the cluster's config names with
 * another value, and for a field that is the gateway's own. For a user of `impersonate` also for any setting: beside the
 * text it would be the service account's, whatever the server lets that user change.
 */
export function relayedAsk(
  { relay, takes }: Pick<Identified, "relay" | "takes">,
  config: Pick<ClickHouseConfig, "settings">,
  caller: Caller,
): Result<RelayedAsk | undefined, GatewayError> {
  if (relay === undefined) return ok(undefined);
  const raw = takes.includes("clickHouseBody");
  const setting = relay.fields.find(([name]) => !name.startsWith("param_"));
  if (caller.kind === "user" && setting !== undefined) return refused(setting[0]);
  const fields = raw ? [...relay.fields, ...relay.form] : relay.fields;
  for (const [name, value] of fields) {
    const fixed = Object.hasOwn(config.settings, name) ? config.settings[name] : undefined;
    if (ownFields.has(name) || (fixed !== undefined && fixed !== value)) {
      return refused(name);
    }
  }
  return ok({ fields, raw, acceptEncoding: relay.acceptEncoding, body: relay.body });
}

function refused(name: string): Result<never, GatewayError> {
  const message = `Setting ${name.slice(0, 100)} should not be changed; SETTINGS in the text may`;
  return err(gatewayError("query.permission", { message, vendor: constraintViolation }));
}

const constraintViolation = {
  of: "clickHouse",
  code: 452,
  name: "SETTING_CONSTRAINT_VIOLATION",
} as const;
