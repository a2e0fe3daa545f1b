/**
 * A Trino client's session travels in its request headers, and changes of it in our response headers.
 * Here the first become a `Session` and `SessionChange`s become the second.
 *
 * Nothing is remembered between requests, and nothing of the identity is read here.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { tagPrefix } from "@gateway/core/query/tag.ts";
import { tagsIn } from "@gateway/core/query/tagText.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { TextStyle } from "@gateway/core/type/cellWriter.ts";
import { utc, zoneOf, type Zone } from "@gateway/core/type/zone.ts";
import {
  formEncode,
  listItems,
  propertyPairs,
  requestHeader,
  responseHeader,
} from "@gateway/wire/trino/headers.ts";
import { single, type RequestHeaders } from "../login/identity.ts";
import { encodingOf, type Encoding } from "../page/segment.ts";
import { trinoText } from "../value/types.ts";

/** What one request remembers for its statement. */
export interface TrinoSession {
  readonly session: Session;
  /** Prepared statements by name; the client keeps them and sends them along. */
  readonly prepared: ReadonlyMap<string, string>;
  /** The transaction the statement belongs to. */
  readonly transactionId: string | undefined;
  /** The client understands transactions: it sent the header, if only to say that there is none. */
  readonly knowsTransactions: boolean;
  /** How cells look: instants in the session's time zone. */
  readonly style: TextStyle;
  /** The form of rows that the client asked for; undefined for plain JSON. */
  readonly encoding: Encoding | undefined;
  /** Why nothing runs in this session but statements about the session, which can mend it. */
  readonly refusal: GatewayError | undefined;
}

/** Our name of the session's time zone, and the session property that Trino keeps it in. */
export const timeZoneSetting = "timezone";
export const timeZoneProperty = "time_zone_id";

/** Credentials and cookies are for the authenticator, not for routers. */
const hiddenHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  requestHeader.extraCredential,
]);

/** A session property of the gateway's own: further tags, as `team:data,job:nightly`. No engine is told of it. */
export const tagsProperty = "gateway.tags";

const noTransaction = "NONE";

/** What the headers of a request say of its session, whoever asks. */
export interface AskedSession {
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
  readonly tags: ReadonlyMap<string, string>;
  readonly headers: ReadonlyMap<string, string>;
  readonly prepared: ReadonlyMap<string, string>;
  readonly transaction: string | undefined;
  readonly style: TextStyle;
  readonly encoding: Encoding | undefined;
  readonly refusal: GatewayError | undefined;
}

/** The session of a request, or `protocol.violation` with the header that can not be read. */
export function sessionFrom(
  headers: RequestHeaders,
  login: Login,
  clientAddress: string,
): Result<TrinoSession, GatewayError> {
  const asked = askedFrom(headers);
  return asked.ok ? ok(sessionOf(asked.value, headers, login, clientAddress)) : asked;
}

/** What the headers ask for, or `protocol.violation` with the one that can not be read. */
export function askedFrom(headers: RequestHeaders): Result<AskedSession, GatewayError> {
  const properties = pairs(headers, requestHeader.session);
  if (!properties.ok) return properties;
  const prepared = pairs(headers, requestHeader.preparedStatement);
  if (!prepared.ok) return prepared;
  const estimates = pairs(headers, requestHeader.resourceEstimate);
  if (!estimates.ok) return estimates;

  const tags = listItems(single(headers[requestHeader.clientTags]) ?? "");
  if (tags.some((tag) => tag.startsWith(tagPrefix))) return err(foreignTag);

  const settings = new Map<string, string>();
  const zone = trimmed(headers, requestHeader.timeZone);
  if (zone !== undefined) settings.set(timeZoneSetting, zone);
  let written = "";
  for (const [property, value] of properties.value) {
    const name = settingOf(property);
    if (name === tagsProperty) written = value;
    else settings.set(name, value);
  }

  const name = settings.get(timeZoneSetting);
  const found = name === undefined ? utc : sessionZone(name);
  return ok({
    catalog: trimmed(headers, requestHeader.catalog),
    schema: trimmed(headers, requestHeader.schema),
    settings,
    tags: written === "" ? tagsFrom(tags) : new Map([...tagsFrom(tags), ...tagsIn(written)]),
    headers: visibleHeaders(headers),
    prepared: new Map(prepared.value),
    transaction: trimmed(headers, requestHeader.transactionId),
    style: styleIn(found ?? utc),
    encoding: encodingOf(single(headers[requestHeader.queryDataEncoding])),
    refusal: found === undefined ? unknownZone(name ?? "") : undefined,
  });
}

/** The session of a request. `asked` may come from an earlier request whose headers differ in secrets and the length of the body only. */
export function sessionOf(
  asked: AskedSession,
  headers: RequestHeaders,
  { identity, credential }: Login,
  clientAddress: string,
): TrinoSession {
  const { transaction } = asked;
  const isSameLength = asked.headers.get(lengthHeader) === headers[lengthHeader];
  return {
    session: {
      frontend: "trinoHttp",
      identity,
      credential,
      clientAddress,
      dialect: "trino",
      catalog: asked.catalog,
      schema: asked.schema,
      settings: asked.settings,
      tags: asked.tags,
      headers: isSameLength ? asked.headers : visibleHeaders(headers),
      pin: undefined,
    },
    style: asked.style,
    encoding: asked.encoding,
    refusal: asked.refusal,
    prepared: asked.prepared,
    transactionId: transaction?.toUpperCase() === noTransaction ? undefined : transaction,
    knowsTransactions: transaction !== undefined,
  };
}

const lengthHeader = "content-length";

/** A zone as Java's clients name it: also `UTC+02:00` and `GMT-5`. */
export function sessionZone(name: string): Zone | undefined {
  return zoneOf(name) ?? zoneOf(name.trim().replace(/^(?:UTC|GMT|UT)(?=[+-]\d)/i, ""));
}

export function unknownZone(name: string): GatewayError {
  return gatewayError("query.unsupported", { message: `Time zone not supported: ${name}` });
}

function styleIn(zone: Zone): TextStyle {
  return zone.name === "UTC" ? trinoText : { ...trinoText, zone };
}

/** Response headers that make the client take a change over. Pins have their own, see transactions.ts. */
export function changeHeaders(
  change: Extract<SessionChange, { kind: "catalog" | "setting" }>,
): readonly (readonly [name: string, value: string])[] {
  switch (change.kind) {
    case "catalog":
      return [
        ...(change.catalog === undefined
          ? []
          : [[responseHeader.setCatalog, headerText(change.catalog)] as const]),
        ...(change.schema === undefined
          ? []
          : [[responseHeader.setSchema, headerText(change.schema)] as const]),
      ];
    case "setting": {
      const name = propertyOf(change.name);
      return change.value === undefined
        ? [[responseHeader.clearSession, name]]
        : [[responseHeader.setSession, `${name}=${formEncode(change.value)}`]];
    }
  }
}

/** A text as a header may carry it. Clients take catalogs, schemas and paths as they are, so only what HTTP forbids is encoded. */
export function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : formEncode(text);
}

function settingOf(property: string): string {
  const name = property.toLowerCase();
  return name === timeZoneProperty ? timeZoneSetting : name;
}

function propertyOf(setting: string): string {
  return setting === timeZoneSetting ? timeZoneProperty : formEncode(setting);
}

function trimmed(headers: RequestHeaders, name: string): string | undefined {
  const value = single(headers[name])?.trim();
  return value === "" ? undefined : value;
}

function pairs(
  headers: RequestHeaders,
  name: string,
): Result<readonly (readonly [string, string])[], GatewayError> {
  const value = single(headers[name]);
  if (value === undefined) return ok([]);
  const read = propertyPairs(value);
  if (read !== undefined) return ok(read);
  return err(gatewayError("protocol.violation", { message: `Invalid ${name} header` }));
}

/** `team:etl` is a tag with a value; a tag without a colon has an empty one. */
function tagsFrom(items: readonly string[]): ReadonlyMap<string, string> {
  if (items.length === 0) return noTags;
  return new Map(
    items.map((item) => {
      const colon = item.indexOf(":");
      if (colon < 0) return [item, ""] as const;
      return [item.slice(0, colon).trimEnd(), item.slice(colon + 1).trimStart()] as const;
    }),
  );
}

/** By such a tag the gateway knows its own statements again, so nobody else may set one. */
const foreignTag = gatewayError("protocol.violation", {
  message: `Invalid ${requestHeader.clientTags} header: no tag may begin with ${tagPrefix}`,
});

const noTags: ReadonlyMap<string, string> = new Map();

function visibleHeaders(headers: RequestHeaders): ReadonlyMap<string, string> {
  const visible = new Map<string, string>();
  for (const name in headers) {
    const value = single(headers[name]);
    if (value !== undefined && !hiddenHeaders.has(name)) visible.set(name, value);
  }
  return visible;
}
