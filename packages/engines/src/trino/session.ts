/**
 * A session as headers of a request, and headers of an answer as changes of the session.
 *
 * Who the statement runs as is decided in identity.ts. What a Trino client sent is passed on by a list:
 * nothing that names a user, a credential or a transaction is on it.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { statementTag, tagPrefix } from "@gateway/core/query/tag.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  formEncode,
  listItems,
  propertyPairs,
  requestHeader,
  responseHeader,
} from "@gateway/wire/trino/headers.ts";
import type { TrinoConfig } from "./config.ts";
import type { HttpHeaders } from "./http.ts";
import type { Caller, Callers } from "./identity.ts";
import { maySetRunTime, runTimeOf, runTimeProperty } from "./runTime.ts";

/** What one request says beside its statement. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** Everything of a request but its statement. */
export interface RequestHead {
  readonly headers: RequestHeaders;
  readonly caller: Caller;
}

/** The sessions' name of the time zone, and Trino's. */
const timeZoneSetting = "timezone";
const timeZoneProperty = "time_zone_id";

/**
 * Headers of a Trino client that mean the same to the engine. A role is not among them: it would be one of
 * the service account, whose grants are the gateway's and not the client's.
 */
const passedOn = [
  requestHeader.path,
  requestHeader.language,
  requestHeader.traceToken,
  requestHeader.resourceEstimate,
  requestHeader.preparedStatement,
] as const;

/** `SESSION_AUTHORIZATION` is not among them: it lets a statement change its user. */
const capabilities = ["PATH", "PARAMETRIC_DATETIME"] as const;

/** Headers of every request that is the gateway's own. */
export const ownHeaders: RequestHeaders = {
  [requestHeader.source]: "gateway",
  [requestHeader.clientTags]: "gateway-own",
  [requestHeader.clientCapabilities]: capabilities.join(","),
  "user-agent": "gateway",
};

/** Head of a client's statement; `auth.noBackendIdentity` where it has no caller, `query.unsupported` where its text may raise its own limit. */
export type HeadOf = (query: Identified) => Result<RequestHead, GatewayError>;

/** Heads for the statements of a cluster. */
export function headsOf(config: TrinoConfig, callers: Callers): HeadOf {
  return (query) => {
    const caller = callers.of(query);
    if (!caller.ok) return caller;
    const prepared = query.session.headers.get(requestHeader.preparedStatement);
    if (query.maxExecutionMs !== undefined && maySetRunTime(query.engineSql, prepared)) {
      const message = `${runTimeProperty} can be set with SET SESSION only: the group limits it`;
      return err(gatewayError("query.unsupported", { message }));
    }
    return ok({ headers: statementHeaders(config, query), caller: caller.value });
  };
}

function statementHeaders(config: TrinoConfig, query: Identified): RequestHeaders {
  const { session } = query;
  const fromTrino = session.frontend === "trinoHttp";
  const headers: Record<string, string> = {
    ...ownHeaders,
    [requestHeader.clientTags]: tagsOf(query),
    [requestHeader.clientInfo]: headerText(session.identity.user),
    ...place(config, session),
  };
  const source = fromTrino ? session.headers.get(requestHeader.source) : undefined;
  headers[requestHeader.source] = source ?? `gateway/${session.frontend}`;
  const zone = session.settings.get(timeZoneSetting);
  if (zone !== undefined) headers[requestHeader.timeZone] = headerText(zone);
  if (config.spooling) headers[requestHeader.queryDataEncoding] = "json";
  const properties = propertiesOf(fromTrino ? session.settings : noSettings, query.maxExecutionMs);
  if (properties !== "") headers[requestHeader.session] = properties;
  if (!fromTrino) return headers;
  for (const name of passedOn) {
    const value = session.headers.get(name);
    if (value !== undefined) headers[name] = value;
  }
  // A client that gets the engine's own rows must be able to read them.
  if (query.takes.includes("trinoData")) {
    const claimed = listItems(session.headers.get(requestHeader.clientCapabilities) ?? "");
    const shared = capabilities.filter((one) => claimed.includes(one));
    headers[requestHeader.clientCapabilities] = shared.join(",");
  }
  return headers;
}

function place(config: TrinoConfig, { catalog, schema }: Session): RequestHeaders {
  const where = catalog ?? config.catalog;
  const within = schema ?? (where === config.catalog ? config.schema : undefined);
  return {
    ...(where === undefined ? {} : { [requestHeader.catalog]: headerText(where) }),
    ...(within === undefined ? {} : { [requestHeader.schema]: headerText(within) }),
  };
}

/** The client's tags and ours, which comes last; tags that look like ours are left out. */
function tagsOf(query: Identified): string {
  const tags: string[] = [];
  for (const [name, value] of query.session.tags) {
    const tag = value === "" ? name : `${name}:${value}`;
    if (!tag.includes(tagPrefix) && /^[\x21-\x7e][\x20-\x7e]*$/.test(tag) && !tag.includes(","))
      tags.push(tag);
  }
  return [...tags, statementTag(query)].join(",");
}

const noSettings: Session["settings"] = new Map();

function propertiesOf(settings: Session["settings"], maxExecutionMs: number | undefined): string {
  const pairs: string[] = [];
  if (maxExecutionMs !== undefined) {
    const value = runTimeOf(settings.get(runTimeProperty), maxExecutionMs);
    pairs.push(`${runTimeProperty}=${formEncode(value)}`);
  }
  for (const [name, value] of settings) {
    if (name === timeZoneSetting) continue;
    if (name === runTimeProperty && maxExecutionMs !== undefined) continue;
    pairs.push(`${formEncode(name)}=${formEncode(value)}`);
  }
  return pairs.join(",");
}

/** As a header may carry it. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : formEncode(text);
}

/** Reads the changes out of a statement's answers, each once: Trino repeats them. */
export class ChangeReader {
  readonly #session: Session;
  readonly #seen = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Changes in these headers that are new. */
  read(headers: HttpHeaders): readonly SessionChange[] {
    const changes: SessionChange[] = [];
    const catalog = this.#new(headers, responseHeader.setCatalog);
    const schema = this.#new(headers, responseHeader.setSchema);
    if (catalog !== undefined || schema !== undefined) {
      changes.push({
        kind: "catalog",
        catalog: catalog ?? this.#session.catalog,
        schema: schema ?? (catalog === undefined ? this.#session.schema : undefined),
      });
    }
    const set = this.#new(headers, responseHeader.setSession);
    for (const [name, value] of propertyPairs(set ?? "") ?? []) {
      changes.push({ kind: "setting", name: settingOf(name), value });
    }
    const cleared = this.#new(headers, responseHeader.clearSession);
    for (const name of listItems(cleared ?? "")) {
      changes.push({ kind: "setting", name: settingOf(name), value: undefined });
    }
    return changes;
  }

  #new(headers: HttpHeaders, name: string): string | undefined {
    const value = headerValue(headers, name);
    if (value === undefined || this.#seen.has(`${name}:${value}`)) return undefined;
    this.#seen.add(`${name}:${value}`);
    return value;
  }
}

/** A header of an answer, several of one name joined; undefined when there is none. */
export function headerValue(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === "string" || value === undefined ? value : value.join(",");
}

function settingOf(property: string): string {
  const name = property.toLowerCase();
  return name === timeZoneProperty ? timeZoneSetting : name;
}
