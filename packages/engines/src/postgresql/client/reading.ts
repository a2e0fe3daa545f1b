/**
 * How a server reads the texts on a connection. Whatever looks at a text here, guards and policies too, reads the encoding
 * that the session asked for, and strings in which a backslash is itself; under other settings the server would find other statements in it.
 */

import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { charsetOf, type Charset } from "@gateway/wire/postgres/charset/charset.ts";
import { brokenError } from "../errors.ts";

/** As PostgreSQL spells it. Every connection begins with it. */
export const utf8 = "UTF8";

/** What the connection's texts are written in, as its server reported it. */
export class Encoding {
  #name = utf8;
  #charset: Charset | undefined;

  get name(): string {
    return this.#name;
  }

  /** Undefined for UTF-8. */
  get charset(): Charset | undefined {
    return this.#charset;
  }

  /** What follows is in this one. */
  follow(name: string): void {
    this.#name = name;
    this.#charset = charsetOf(name);
  }
}

/** The encoding of a session's texts. Other wires' are UTF-8; to ask for no conversion (`SQL_ASCII`) means the same. */
export function encodingOf({ settings, dialect }: Pick<Session, "settings" | "dialect">): string {
  const asked = dialect === "postgres" ? settings.get("client_encoding") : undefined;
  return asked === undefined || asked === "SQL_ASCII" ? utf8 : asked;
}

/** Why a connection says nothing more: the server ended it, it broke off, or was closed because a statement changed how it reads texts. */
export function endOf(member: {
  readonly readsOtherwise: boolean;
  readonly farewell: GatewayError | undefined;
  readonly broken: string;
}): GatewayError {
  return member.readsOtherwise ? readOtherwise : (member.farewell ?? brokenError(member.broken));
}

const readOtherwise = gatewayError("query.unsupported", {
  message:
    "the statement changed client_encoding or standard_conforming_strings, under which other statements would be read here than there: its connection was closed",
});

/** Whether the server reads texts as they are written here, by the settings that it reported. */
export function readsAsWritten(statuses: ReadonlyMap<string, string>): boolean {
  const strings = statuses.get("standard_conforming_strings") ?? "on";
  const encoding = statuses.get("client_encoding") ?? utf8;
  return strings === "on" && (encoding === utf8 || charsetOf(encoding) !== undefined);
}

/** Why a text can not be sent; undefined where it can. */
export function unwritable(
  { encoding }: { readonly encoding: Encoding },
  text: string,
): GatewayError | undefined {
  const { charset } = encoding;
  if (charset === undefined || charset.encode(text) !== undefined) return undefined;
  return gatewayError("query.data", {
    sqlState: "22P05",
    message: `the text of the statement has a character that has no equivalent in encoding "${charset.name}"`,
  });
}
