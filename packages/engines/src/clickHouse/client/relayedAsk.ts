/** What a client of ClickHouse's own HTTP interface may ask of a cluster beside its statement. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Identified, Relay } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ClickHouseConfig } from "../config.ts";
import type { Caller } from "../identity.ts";
import { queryOf, type RelayedAsk } from "./wire.ts";

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

/** A relay that only says the form of an answer, and what became of it for the account: clients ask for the same one again and again. */
interface Last {
  readonly relay: Relay;
  readonly raw: boolean;
  readonly settings: ClickHouseConfig["settings"];
  readonly asked: Result<RelayedAsk, GatewayError>;
}

/** The last one. Nothing in a relay changes. */
let last: Last | undefined;

const noRelay = ok(undefined);

/**
 * Undefined for a query of another protocol. `query.permission` for a setting that the cluster's config names with
 * another value, and for a field that is the gateway's own. For a user of `impersonate` also for any setting: beside the
 * text it would be the service account's, whatever the server lets that user change.
 */
export function relayedAsk(
  { relay, takes }: Pick<Identified, "relay" | "takes">,
  { settings }: Pick<ClickHouseConfig, "settings">,
  caller: Caller,
): Result<RelayedAsk | undefined, GatewayError> {
  if (relay === undefined) return noRelay;
  const raw = takes.includes("clickHouseBody");
  if (caller.kind === "user") {
    const setting = relay.fields.find(([name]) => !name.startsWith("param_"));
    return setting === undefined ? read(relay, raw, settings) : refused(setting[0]);
  }
  if (last?.relay === relay && last.raw === raw && last.settings === settings) return last.asked;
  const asked = read(relay, raw, settings);
  if (isFormOnly(relay)) last = { relay, raw, settings, asked };
  return asked;
}

function read(
  relay: Relay,
  raw: boolean,
  settings: ClickHouseConfig["settings"],
): Result<RelayedAsk, GatewayError> {
  const fields = raw ? [...relay.fields, ...relay.form] : relay.fields;
  for (const [name, value] of fields) {
    const fixed = Object.hasOwn(settings, name) ? settings[name] : undefined;
    if (ownFields.has(name) || (fixed !== undefined && fixed !== value)) {
      return refused(name);
    }
  }
  try {
    const query = fields.length === 0 ? "" : `&${queryOf(fields)}`;
    const isForm = isFormOnly(relay);
    return ok({ query, isForm, raw, acceptEncoding: relay.acceptEncoding, body: relay.body });
  } catch {
    // Half of a surrogate pair in a field.
    return err(gatewayError("engine.broken", { detail: "an address that can not be written" }));
  }
}

function isFormOnly({ body, fields }: Relay): boolean {
  return body === undefined && fields.length === 0;
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
