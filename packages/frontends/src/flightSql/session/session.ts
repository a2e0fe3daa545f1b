/** The session of one call: who made it, and what its cookie says. */
import type { Door } from "@gateway/core/port/door.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import type { Session } from "@gateway/core/query/query.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { tagsOf, type SessionOptions } from "./options.ts";

/** Credentials and cookies are for the authenticator, not for routers. */
const hiddenHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
]);

export interface SessionParts {
  readonly login: Login;
  readonly address: string;
  readonly options: SessionOptions;
  readonly headers: ReadonlyMap<string, string>;
  readonly pin: Pin | undefined;
}

/** The session, read in the dialect of the engines that it may reach. */
export function sessionOf(door: Pick<Door, "engines">, parts: SessionParts): Session {
  const { login, address, options, headers, pin } = parts;
  const session: Session = {
    frontend: "flightSql",
    identity: login.identity,
    credential: login.credential,
    clientAddress: address,
    dialect: "generic",
    catalog: options.catalog,
    schema: options.schema,
    settings: noSettings,
    tags: tagsOf(options),
    headers: new Map([...headers].filter(([name]) => !hiddenHeaders.has(name))),
    pin,
  };
  return { ...session, dialect: dialectOf(door, session) };
}

const noSettings: ReadonlyMap<string, string> = new Map();

/**
 * Flight SQL has no dialect of its own: clients write what the engine reads. Where engines of several dialects may
 * be reached, or one that no lexer knows, the text is read with care for all of them.
 */
function dialectOf(door: Pick<Door, "engines">, session: Session): Dialect {
  const [first, ...others] = door.engines(session);
  const dialect = first?.dialect ?? "generic";
  return others.every((engine) => engine.dialect === dialect) ? dialect : "generic";
}
