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
  const header = String(request.headers["x-clickhouse-database"] ?? "");
  const named = fields.database ?? (header === "" ? undefined : header);
  const comment = settings.get("log_comment");
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
    headers: visibleHeaders(request),
    pin: undefined,
  };
  if (named === undefined) return plain;
  const isServer = allRead("clickhouse", door.engines(plain));
  // Other engines have no such database, and clients send it without being told.
  if (named === defaultDatabase && !isServer) return plain;
  const isCatalog = !isServer && door.catalogs(plain).includes(named);
  return isCatalog ? { ...plain, catalog: named } : { ...plain, schema: named };
}

function visibleHeaders({ headers }: HttpRequest): ReadonlyMap<string, string> {
  const visible = new Map<string, string>();
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || hiddenHeaders.has(name)) continue;
    visible.set(name, typeof value === "string" ? value : value.join(", "));
  }
  return visible;
}
