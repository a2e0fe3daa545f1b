/**
 * Roles as Trino's clients choose them: `SET ROLE`, and the header that carries the choice.
 *
 * A role of the gateway comes with the login and is never made here. One that its user does not have is
 * refused, because somebody who asks for fewer or other rights must not be left believing it.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Session } from "@gateway/core/query/query.ts";
import {
  formDecode,
  formEncode,
  listItems,
  requestHeader,
  responseHeader,
} from "@gateway/wire/trino/headers.ts";
import { changed, failure, refused, type Handling } from "../read/handling.ts";
import type { TokenReader } from "../read/tokens.ts";

/** The catalog of roles that belong to no catalog. */
const systemCatalog = "system";

/** Why the roles that a request names can not be had; undefined when they can. */
export function rolesRefusal({ headers, identity }: Session): GatewayError | undefined {
  const value = headers.get(requestHeader.role);
  if (value === undefined) return undefined;
  for (const item of listItems(value)) {
    const mark = item.indexOf("=");
    const role = mark <= 0 ? undefined : roleIn(formDecode(item.slice(mark + 1)) ?? "");
    if (role === undefined) {
      const message = `Invalid ${requestHeader.role} header`;
      return gatewayError("protocol.violation", { message });
    }
    const { name } = role;
    if (name !== undefined && !identity.roles.includes(name)) return notGranted(name);
  }
  return undefined;
}

/** `ROLE{name}`, `ALL` or `NONE`. */
function roleIn(text: string): { readonly name: string | undefined } | undefined {
  if (text === "ALL" || text === "NONE") return { name: undefined };
  const [, name] = /^ROLE\{(.+)\}$/s.exec(text) ?? [];
  return name === undefined ? undefined : { name };
}

/**
 * `SET ROLE name`, `ALL` or `NONE`, with `IN catalog` or without, behind its first two words. Judged here for
 * every engine: none is told of the choice, because its roles would be those of the gateway's account.
 */
export function setRole(reader: TokenReader, { identity }: Session): Handling {
  const word = reader.peek().kind === "word" ? reader.peek().text.toUpperCase() : "";
  const name = reader.name();
  const catalog = reader.word("IN") ? reader.name() : systemCatalog;
  if (name === undefined || catalog === undefined || !reader.atEnd()) {
    return refused("SET ROLE needs the name of a role");
  }
  const everyOrNone = word === "ALL" || word === "NONE";
  const granted = catalog === systemCatalog && identity.roles.includes(name);
  if (!everyOrNone && !granted) return failure(notGranted(name));
  const role = everyOrNone ? word : `ROLE{${name}}`;
  return changed("SET ROLE", [
    [responseHeader.setRole, `${formEncode(catalog)}=${formEncode(role)}`],
  ]);
}

function notGranted(name: string): GatewayError {
  return gatewayError("query.permission", { message: `Access Denied: Cannot set role ${name}` });
}
