/** The session of one statement: what the request says, over what its `session_id` remembers. */
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { allRead } from "@gateway/core/query/reached.ts";
import type { Fields } from "../read/fields.ts";
import type { HeldSession } from "../session/sessions.ts";
import type { HttpRequest } from "../../listener/http/exchange.ts";

export interface SessionParts {
  readonly request: HttpRequest;
  readonly fields: Fields;
  readonly login: Login;
  readonly address: string;
  readonly door: Pick<Door, "engines" | "catalogs">;
  readonly held: HeldSession | undefined;
  readonly settings: ReadonlyMap<string, string>;
}

/** Credentials and cookies are for the authenticator, not for routers. */
const hiddenHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "x-clickhouse-key",
]);

const noTags: Session["tags"] = new Map();

/** What ClickHouse calls the database of a client that names none. */
const defaultDatabase = "default";

export function sessionFor(parts: SessionParts): Session {
  const { request, fields, login, address, door, held, settings } = parts;
  const header = request.headers["x-clickhouse-database"] ?? "";
  const named = fields.database ?? (header === "" ? undefined : String(header));
  const comment = settings.size === 0 ? undefined : settings.get("log_comment");
  const plain: Session = {
    frontend: "clickhouseHttp",
    identity: login.identity,
    credential: login.credential,
    clientAddress: address,
    dialect: "clickhouse",
    catalog: named === undefined ? held?.catalog : undefined,
    schema: named === undefined ? held?.database : undefined,
    settings,
    tags: comment === undefined ? noTags : new Map([["log_comment", comment]]),
    headers: new VisibleHeaders(request.headers),
    pin: undefined,
  };
  if (named === undefined) return plain;
  const isServer = allRead("clickhouse", door.engines(plain));
  // Other engines have no such database, and clients send it without being told.
  if (named === defaultDatabase && !isServer) return plain;
  const isCatalog = !isServer && door.catalogs(plain).includes(named);
  return isCatalog ? { ...plain, catalog: named } : { ...plain, schema: named };
}

type Headers = HttpRequest["headers"];

/**
 * The headers of a request without those that are for the authenticator. Most queries are asked for one of them at
 * most, so they are gathered for whoever wants all.
 */
class VisibleHeaders implements ReadonlyMap<string, string> {
  readonly #sent: Headers;
  #all: ReadonlyMap<string, string> | undefined;

  constructor(sent: Headers) {
    this.#sent = sent;
  }

  get size(): number {
    return this.#gathered().size;
  }

  get(name: string): string | undefined {
    const value: unknown = this.#sent[name];
    if (hiddenHeaders.has(name)) return undefined;
    if (typeof value === "string") return value;
    return Array.isArray(value) ? value.join(", ") : undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  keys(): MapIterator<string> {
    return this.#gathered().keys();
  }

  values(): MapIterator<string> {
    return this.#gathered().values();
  }

  entries(): MapIterator<[string, string]> {
    return this.#gathered().entries();
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.entries();
  }

  forEach(tell: (value: string, name: string, map: ReadonlyMap<string, string>) => void): void {
    for (const [name, value] of this) tell(value, name, this);
  }

  #gathered(): ReadonlyMap<string, string> {
    if (this.#all !== undefined) return this.#all;
    const all = new Map<string, string>();
    for (const name in this.#sent) {
      const value = this.get(name);
      if (value !== undefined) all.set(name, value);
    }
    this.#all = all;
    return all;
  }
}
