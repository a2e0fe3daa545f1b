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
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import {
  formEncode,
  listItems,
  propertyPairs,
  requestHeader,
  responseHeader,
} from "@gateway/wire/trino/headers.ts";
import type { TrinoConfig } from "../config.ts";
import type { HeaderList, HttpHeaders } from "./http.ts";
import type { Caller, Callers } from "../identity.ts";
import { maySetRunTime, runTimeOf, runTimeProperty } from "./runTime.ts";

/** Everything of a request but its statement. */
export interface RequestHead {
  /** What it says beside its statement, its tags and its caller. */
  readonly headers: HeaderList;
  /** Undefined where they stand among the headers. */
  readonly tags: string | undefined;
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
export const ownHeaders: HeaderList = [
  requestHeader.source,
  "gateway",
  requestHeader.clientTags,
  "gateway-own",
  requestHeader.clientCapabilities,
  capabilities.join(","),
  "user-agent",
  "gateway",
];

/** The headers with this one, in place of any other under its name. */
export function withHeader(headers: HeaderList, name: string, value: string): HeaderList {
  const changed: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at] !== name) changed.push(headers[at] ?? "", headers[at + 1] ?? "");
  }
  changed.push(name, value);
  return changed;
}

/** Head of a client's statement; `auth.noBackendIdentity` where it has no caller, `query.unsupported` where its text may raise its own limit. */
export type HeadOf = (query: Identified) => Result<RequestHead, GatewayError>;

/** Heads for the statements of a cluster. */
export function headsOf(config: TrinoConfig, callers: Callers): HeadOf {
  const lists = new WeakMap<Session["headers"], Said>();
  return (query) => {
    const caller = callers.of(query);
    if (!caller.ok) return caller;
    const prepared = query.session.headers.get(requestHeader.preparedStatement);
    if (query.maxExecutionMs !== undefined && maySetRunTime(query.engineSql, prepared)) {
      const message = `${runTimeProperty} can be set with SET SESSION only: the group limits it`;
      return err(gatewayError("query.unsupported", { message }));
    }
    const headers = headersIn(lists, config, query);
    return ok({ headers, tags: tagsOf(query), caller: caller.value });
  };
}

/** What a statement's headers follow from beside those of its client, and the list. No session is kept: it has a credential. */
interface Said extends Pick<Session, "catalog" | "schema" | "settings"> {
  readonly user: string;
  readonly maxExecutionMs: number | undefined;
  readonly native: boolean;
  readonly headers: HeaderList;
}

/** A client of Trino's own that sends the same headers again has the same list, whose lines are then written once. */
function headersIn(
  lists: WeakMap<Session["headers"], Said>,
  config: TrinoConfig,
  query: Identified,
): HeaderList {
  const { session, maxExecutionMs } = query;
  // What other clients set changes in place.
  if (session.frontend !== "trinoHttp") return statementHeaders(config, query);
  const native = query.takes.includes("trinoData");
  const known = lists.get(session.headers);
  const isSame = known?.maxExecutionMs === maxExecutionMs && known?.native === native;
  if (known !== undefined && isSame && areSame(known, session)) return known.headers;
  const headers = statementHeaders(config, query);
  const { catalog, schema, settings, identity } = session;
  const said = { catalog, schema, settings, user: identity.user, maxExecutionMs, native, headers };
  lists.set(session.headers, said);
  return headers;
}

function areSame(known: Said, { catalog, schema, settings, identity }: Session): boolean {
  const isSamePlace = known.catalog === catalog && known.schema === schema;
  return isSamePlace && known.settings === settings && known.user === identity.user;
}

function statementHeaders(config: TrinoConfig, query: Identified): HeaderList {
  const { session } = query;
  const fromTrino = session.frontend === "trinoHttp";
  const source = fromTrino ? session.headers.get(requestHeader.source) : undefined;
  const headers: string[] = [
    requestHeader.source,
    source ?? `gateway/${session.frontend}`,
    requestHeader.clientCapabilities,
    capabilitiesOf(query),
    "user-agent",
    "gateway",
    requestHeader.clientInfo,
    headerText(session.identity.user),
  ];
  const catalog = session.catalog ?? config.catalog;
  const schema = session.schema ?? (catalog === config.catalog ? config.schema : undefined);
  if (catalog !== undefined) headers.push(requestHeader.catalog, headerText(catalog));
  if (schema !== undefined) headers.push(requestHeader.schema, headerText(schema));
  const zone = session.settings.get(timeZoneSetting);
  const clientZone = fromTrino ? session.headers.get(requestHeader.timeZone) : zone;
  if (clientZone !== undefined) headers.push(requestHeader.timeZone, headerText(clientZone));
  if (config.spooling) headers.push(requestHeader.queryDataEncoding, "json");
  const properties = propertiesOf(query, fromTrino ? clientZone?.trim() : zone);
  if (properties !== "") headers.push(requestHeader.session, properties);
  if (!fromTrino) return headers;
  for (const name of passedOn) {
    const value = session.headers.get(name);
    if (value !== undefined) headers.push(name, value);
  }
  return headers;
}

/**
 * Our own capabilities. A client that gets the engine's own rows must be able to read them, so only those go
 * out that it has as well.
 */
function capabilitiesOf({ session, takes }: Identified): string {
  if (session.frontend !== "trinoHttp" || !takes.includes("trinoData")) return allCapabilities;
  return sharedCapabilities(session.headers.get(requestHeader.clientCapabilities) ?? "");
}

const allCapabilities = capabilities.join(",");

/** Every client of one kind claims the same. */
const sharedCapabilities = remembered(
  (claimed) => {
    const claims = listItems(claimed);
    return capabilities.filter((one) => claims.includes(one)).join(",");
  },
  { textsMax: 64, lengthMax: 512 },
);

/**
 * The client's tags and ours, which comes last. A Trino client's are passed on as it wrote them, then the
 * group's own. The frontend refuses tags that begin like ours; one that came another way is left out.
 */
function tagsOf(query: Identified): string {
  const { session } = query;
  if (session.tags.size === 0) return statementTag(query);
  const written = writtenTags(session);
  const isSaid = (tag: string) => session.tags.get(tagName(tag)) === tagValue(tag);
  // A tag that stands elsewhere with another value goes before that of the header.
  const known = new Set(written.filter(isSaid).map(tagName));
  const tags = written.filter((tag) => known.has(tagName(tag)));
  for (const [name, value] of session.tags) {
    if (!known.has(name)) tags.push(value === "" ? name : `${name}:${value}`);
  }
  return [...tags.filter(mayTag), statementTag(query)].join(",");
}

function writtenTags({ frontend, headers }: Session): readonly string[] {
  const value = frontend === "trinoHttp" ? headers.get(requestHeader.clientTags) : undefined;
  return value === undefined ? [] : listItems(value);
}

function tagName(tag: string): string {
  return tag.split(":", 1)[0]?.trimEnd() ?? "";
}

function tagValue(tag: string): string {
  const colon = tag.indexOf(":");
  return colon < 0 ? "" : tag.slice(colon + 1).trimStart();
}

/** What a header carries as one item. */
function mayTag(tag: string): boolean {
  return !tag.startsWith(tagPrefix) && /^[\x21-\x7e][\x20-\x7e]*$/.test(tag) && !tag.includes(",");
}

const noSettings: Session["settings"] = new Map();

/** A Trino client's own properties. `zone`: the one that a header says already; any other was set as a property. */
function propertiesOf(
  { session, maxExecutionMs }: Pick<Identified, "session" | "maxExecutionMs">,
  zone: string | undefined,
): string {
  const settings = session.frontend === "trinoHttp" ? session.settings : noSettings;
  const pairs: string[] = [];
  if (maxExecutionMs !== undefined) {
    const value = runTimeOf(settings.get(runTimeProperty), maxExecutionMs);
    pairs.push(`${runTimeProperty}=${formEncode(value)}`);
  }
  for (const [name, value] of settings) {
    if (name === timeZoneSetting && value === zone) continue;
    if (name === runTimeProperty && maxExecutionMs !== undefined) continue;
    const property = name === timeZoneSetting ? timeZoneProperty : name;
    pairs.push(`${formEncode(property)}=${formEncode(value)}`);
  }
  return pairs.join(",");
}

/** As a header may carry it. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : formEncode(text);
}

/** Names of the headers that say a change, as answers have them. */
const answerHeader = {
  setCatalog: responseHeader.setCatalog.toLowerCase(),
  setSchema: responseHeader.setSchema.toLowerCase(),
  setSession: responseHeader.setSession.toLowerCase(),
  clearSession: responseHeader.clearSession.toLowerCase(),
} as const;

const noChanges: readonly SessionChange[] = [];

/** Reads the changes out of a statement's answers, each once: Trino repeats them. */
export class ChangeReader {
  readonly #session: Session;
  /** Undefined until something came: most statements change nothing. */
  #seen: Set<string> | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Changes in these headers that are new. */
  read(headers: HttpHeaders): readonly SessionChange[] {
    const catalog = this.#new(headers, answerHeader.setCatalog);
    const schema = this.#new(headers, answerHeader.setSchema);
    const set = this.#new(headers, answerHeader.setSession);
    const cleared = this.#new(headers, answerHeader.clearSession);
    if ((catalog ?? schema ?? set ?? cleared) === undefined) return noChanges;
    const changes: SessionChange[] = [];
    if (catalog !== undefined || schema !== undefined) {
      changes.push({
        kind: "catalog",
        catalog: catalog ?? this.#session.catalog,
        schema: schema ?? (catalog === undefined ? this.#session.schema : undefined),
      });
    }
    for (const [name, value] of propertyPairs(set ?? "") ?? []) {
      changes.push({ kind: "setting", name: settingOf(name), value });
    }
    for (const name of listItems(cleared ?? "")) {
      changes.push({ kind: "setting", name: settingOf(name), value: undefined });
    }
    return changes;
  }

  #new(headers: HttpHeaders, name: string): string | undefined {
    const value = headerValue(headers, name);
    if (value === undefined || this.#seen?.has(`${name}:${value}`) === true) return undefined;
    this.#seen ??= new Set();
    this.#seen.add(`${name}:${value}`);
    return value;
  }
}

/** A header of an answer by its name in lower case, several of one name joined; undefined when there is none. */
export function headerValue(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" || value === undefined ? value : value.join(",");
}

function settingOf(property: string): string {
  const name = property.toLowerCase();
  return name === timeZoneProperty ? timeZoneSetting : name;
}
