/** What a call shows of its client: an `authorization` header, or the names of its certificate. Nothing here is believed. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Presented } from "@gateway/core/port/authenticator.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { Tokens } from "./tokens.ts";

/**
 * What is shown. A malformed header is refused as a wrong one, also beside a certificate, and so is one that comes
 * twice: two readers could see two names.
 */
export function presentedBy(
  authorization: readonly string[],
  certificateNames: readonly string[],
  tokens: Tokens,
): Result<Presented, GatewayError> {
  const [header] = authorization;
  if (header === undefined) {
    return certificateNames.length === 0
      ? ok({ kind: "nothing", user: undefined, asked: false })
      : ok({ kind: "certificate", user: undefined, names: certificateNames });
  }
  const space = header.indexOf(" ");
  const scheme = header.slice(0, space).toLowerCase();
  const shown = header.slice(space + 1).trim();
  if (authorization.length > 1 || space < 0 || shown === "") return refused();
  if (scheme === "basic") return basic(shown);
  return scheme === "bearer" ? bearer(shown, tokens) : refused();
}

function bearer(shown: string, tokens: Tokens): Result<Presented, GatewayError> {
  if (!tokens.isOurs(shown)) {
    return ok({ kind: "bearer", token: new Secret(shown), claimedUser: undefined });
  }
  const credential = tokens.open(shown);
  return credential === undefined ? refused() : ok({ kind: "password", ...credential });
}

function basic(shown: string): Result<Presented, GatewayError> {
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(shown)) return refused();
  const text = Buffer.from(shown, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon <= 0) return refused();
  const password = new Secret(text.slice(colon + 1));
  return ok({ kind: "password", user: text.slice(0, colon), password });
}

function refused(): Result<never, GatewayError> {
  return err(gatewayError("auth.refused"));
}
