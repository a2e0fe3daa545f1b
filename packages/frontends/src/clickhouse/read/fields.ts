/** The fields of a request's address: what is about the request, what are values of parameters, what are settings. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { named } from "../errors.ts";
import { nameLengthMax, sessionSecs, sessionSecsMax, settingLengthMax } from "../limits.ts";

export type Field = readonly [name: string, value: string];

/** What a request says beside its text. */
export interface Fields {
  /** The text of the statement, or its start. */
  readonly query: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly queryId: string | undefined;
  readonly session: SessionAsked | undefined;
  readonly format: string | undefined;
  /** The answer, or the body, stands in ClickHouse's compressed blocks. */
  readonly compress: boolean;
  readonly decompress: boolean;
  readonly waitsForEnd: boolean;
  /** Names without `param_`. */
  readonly parameters: readonly Field[];
  readonly settings: ReadonlyMap<string, string>;
}

export interface SessionAsked {
  readonly id: string;
  readonly timeoutSecs: number;
  /** It must be there already. */
  readonly check: boolean;
  /** It ends with this request. */
  readonly close: boolean;
}

/** Fields that are no settings. Whatever else comes is one. */
const requestFields: ReadonlySet<string> = new Set([
  "query",
  "user",
  "password",
  "database",
  "query_id",
  "session_id",
  "session_timeout",
  "session_check",
  "close_session",
  "default_format",
  "compress",
  "decompress",
  "wait_end_of_query",
  // How a server buffers is its own affair.
  "buffer_size",
  "stacktrace",
]);

/** Fields that would be accepted and not done. */
const refusedFields: ReadonlySet<string> = new Set(["role", "quota_key", "param_"]);

const fieldsMax = 1_000;

const noFields = read("");

/** Reads a query string. `protocol.violation` for a name that comes twice, `query.unsupported` for what is not done. */
export function fieldsOf(queryString: string): Result<Fields, GatewayError> {
  return queryString === "" ? noFields : read(queryString);
}

function read(queryString: string): Result<Fields, GatewayError> {
  const found = new Map<string, string>();
  const search = new URLSearchParams(queryString);
  if (search.size > fieldsMax) return err(violation("too many fields in the address"));
  for (const [name, value] of search) {
    if (refusedFields.has(name)) return err(unsupported(name));
    if (found.has(name)) return err(violation(`the field ${name.slice(0, 100)} came twice`));
    found.set(name, value);
  }
  const session = sessionIn(found);
  if (!session.ok) return session;
  const queryId = found.get("query_id");
  if ((queryId?.length ?? 0) > nameLengthMax) return err(violation("the query id is too long"));
  const parameters: Field[] = [];
  const settings = new Map<string, string>();
  for (const [name, value] of found) {
    if (name.startsWith("param_")) parameters.push([name.slice("param_".length), value]);
    else if (!requestFields.has(name)) {
      if (!isSetting(name, value)) return err(violation("a setting is too long or has no name"));
      settings.set(name, value);
    }
  }
  return ok({
    query: filled(found.get("query")),
    user: found.get("user"),
    password: found.get("password"),
    database: filled(found.get("database")),
    queryId: filled(queryId),
    session: session.value,
    format: filled(found.get("default_format")),
    compress: isOn(found.get("compress")),
    decompress: isOn(found.get("decompress")),
    waitsForEnd: isOn(found.get("wait_end_of_query")),
    parameters,
    settings,
  });
}

/** True for a name that can be one of a setting, and a value that is no text of its own. */
export function isSetting(name: string, value: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_.]{0,127}$/.test(name) && value.length <= settingLengthMax;
}

/** True for `1` and `true`. */
export function isOn(value: string | undefined): boolean {
  return value === "1" || value?.toLowerCase() === "true";
}

function sessionIn(
  found: ReadonlyMap<string, string>,
): Result<SessionAsked | undefined, GatewayError> {
  const id = filled(found.get("session_id"));
  if (id === undefined) return ok(undefined);
  if (id.length > nameLengthMax) return err(violation("the session id is too long"));
  const timeout = found.get("session_timeout");
  const timeoutSecs = timeout === undefined ? sessionSecs : Number(timeout);
  if (!Number.isInteger(timeoutSecs) || timeoutSecs < 0 || timeoutSecs > sessionSecsMax) {
    const message = `Session timeout must be a number of seconds up to ${sessionSecsMax}`;
    const vendor = named("INVALID_SESSION_TIMEOUT");
    return err(gatewayError("protocol.violation", { message, vendor }));
  }
  const check = isOn(found.get("session_check"));
  return ok({ id, timeoutSecs, check, close: isOn(found.get("close_session")) });
}

function filled(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function violation(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}

function unsupported(name: string): GatewayError {
  return gatewayError("query.unsupported", { message: `${name} is not taken` });
}
