/**
 * What a session remembers: its place, its parameters, what it tagged, its transaction. An immutable value; statements
 * and logins make new ones.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { tagPrefix } from "@gateway/core/query/tag.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";

export interface SessionState {
  readonly database: string | undefined;
  readonly schema: string | undefined;
  /** Names that mean something at Snowflake only; routers see them as tags, and clients get them back. */
  readonly warehouse: string | undefined;
  /** Upper-case names to values, as the client set them. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
  readonly pin: Pin | undefined;
}

export const newState: SessionState = {
  database: undefined,
  schema: undefined,
  warehouse: undefined,
  parameters: new Map(),
  settings: new Map(),
  pin: undefined,
};

/** What drivers are told of parameters, as a server has them when nobody set any. They decide how a driver reads rows. */
const defaults: readonly (readonly [string, string | number | boolean])[] = [
  ["TIMEZONE", "Etc/UTC"],
  ["AUTOCOMMIT", true],
  ["CLIENT_SESSION_KEEP_ALIVE", false],
  ["CLIENT_PREFETCH_THREADS", 4],
  ["CLIENT_RESULT_CHUNK_SIZE", 160],
  ["CLIENT_MEMORY_LIMIT", 1_536],
  ["CLIENT_STAGE_ARRAY_BINDING_THRESHOLD", 0],
  ["CLIENT_TELEMETRY_ENABLED", false],
  ["CLIENT_HONOR_CLIENT_TZ_FOR_TIMESTAMP_NTZ", true],
  ["CLIENT_TIMESTAMP_TYPE_MAPPING", "TIMESTAMP_LTZ"],
  ["JDBC_TREAT_DECIMAL_AS_INT", true],
  ["JDBC_QUERY_RESULT_FORMAT", "JSON"],
  ["ODBC_QUERY_RESULT_FORMAT", "JSON"],
  ["GO_QUERY_RESULT_FORMAT", "JSON"],
  ["PYTHON_CONNECTOR_QUERY_RESULT_FORMAT", "ARROW"],
  ["QUERY_RESULT_FORMAT", "JSON"],
  ["BINARY_OUTPUT_FORMAT", "HEX"],
  ["DATE_OUTPUT_FORMAT", "YYYY-MM-DD"],
  ["TIME_OUTPUT_FORMAT", "HH24:MI:SS"],
  ["TIMESTAMP_OUTPUT_FORMAT", "YYYY-MM-DD HH24:MI:SS.FF3 TZHTZM"],
  ["TIMESTAMP_NTZ_OUTPUT_FORMAT", "YYYY-MM-DD HH24:MI:SS.FF3"],
  ["TIMESTAMP_LTZ_OUTPUT_FORMAT", ""],
  ["TIMESTAMP_TZ_OUTPUT_FORMAT", ""],
  ["SERVICE_NAME", ""],
];

/** Every parameter with its value in this session. */
export function parametersOf({
  parameters,
}: SessionState): readonly { readonly name: string; readonly value: string | number | boolean }[] {
  const known = defaults.map(([name, value]) => ({
    name,
    value: parameters.has(name) ? typedLike(value, parameters.get(name) ?? "") : value,
  }));
  return known;
}

function typedLike(usual: string | number | boolean, value: string): string | number | boolean {
  if (typeof usual === "boolean") return value.toLowerCase() === "true";
  return typeof usual === "number" && Number.isFinite(Number(value)) ? Number(value) : value;
}

/** Parameters that would change what statements do, and that no engine here is told of. */
const refusedValues: Readonly<Record<string, RegExp>> = {
  ERROR_ON_NONDETERMINISTIC_MERGE: /^(true|1)$/i,
};
/** True where a session's changes wait for its COMMIT. */
export function withoutAutocommit({ parameters }: SessionState): boolean {
  return /^(false|0)$/i.test(parameters.get("AUTOCOMMIT") ?? "");
}

const parametersMax = 256;
const timeZone = "TIMEZONE";

/** The state with a parameter set (or, by undefined, as nobody set it). Refuses what would be accepted and not done. */
export function withParameter(
  state: SessionState,
  name: string,
  value: string | undefined,
): Result<SessionState, GatewayError> {
  const key = name.toUpperCase();
  const parameters = new Map(state.parameters);
  const settings = new Map(state.settings);
  if (value === undefined) {
    parameters.delete(key);
    if (key === timeZone) settings.delete("timezone");
    return ok({ ...state, parameters, settings });
  }
  if (refusedValues[key]?.test(value) === true) {
    return err(unsupported(`${key} can not be ${value} here`));
  }
  if (key === "QUERY_TAG" && value.startsWith(tagPrefix)) {
    const message = `No tag of a client may begin with ${tagPrefix}`;
    return err(gatewayError("query.parameters", { message }));
  }
  if (!parameters.has(key) && parameters.size >= parametersMax) {
    return err(unsupported("the session has too many parameters"));
  }
  parameters.set(key, value);
  if (key === timeZone) settings.set("timezone", value);
  return ok({ ...state, parameters, settings });
}

/** The state behind a change that an engine or the line made. */
export function changed(state: SessionState, change: SessionChange): SessionState {
  switch (change.kind) {
    case "catalog":
      return { ...state, database: change.catalog, schema: change.schema };
    case "setting": {
      const settings = new Map(state.settings);
      if (change.value === undefined) settings.delete(change.name);
      else settings.set(change.name, change.value);
      return { ...state, settings };
    }
    case "pinned":
      return { ...state, pin: change.pin };
    case "unpinned":
      return { ...state, pin: undefined };
    case "chained":
    case "divided":
    // Only a query with a `call` of PostgreSQL's protocol is given these two.
    case "kept":
    case "released":
      return state;
  }
}

/** The session of one statement. `dialect`: how its text is read. */
export function sessionOf(
  state: SessionState,
  { login, clientAddress, headers, application }: SessionOwner,
  dialect: Dialect,
): Session {
  const tags = new Map<string, string>();
  const tag = state.parameters.get("QUERY_TAG");
  if (tag !== undefined && tag !== "") tags.set("query_tag", tag);
  if (state.warehouse !== undefined) tags.set("warehouse", state.warehouse);
  if (application !== "") tags.set("application", application);
  return {
    frontend: "snowflakeHttp",
    identity: login.identity,
    credential: login.credential,
    clientAddress,
    dialect,
    catalog: state.database,
    schema: state.schema,
    settings: state.settings,
    tags,
    headers,
    pin: state.pin,
  };
}

/** Who a session belongs to. */
export interface SessionOwner {
  readonly login: Login;
  readonly clientAddress: string;
  readonly headers: ReadonlyMap<string, string>;
  /** What the driver calls itself. */
  readonly application: string;
}

function unsupported(message: string): GatewayError {
  return gatewayError("query.unsupported", { message });
}
