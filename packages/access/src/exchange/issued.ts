/** What a token endpoint answered to an exchange (RFC 8693 §2.2.1), read strictly: nonsense is no token. */
import { decodeJwt } from "jose";
import { Secret } from "@gateway/core/secret.ts";

/** A token and its lifetime in seconds; 0 where nobody says. */
export interface IssuedToken {
  readonly token: Secret;
  readonly livesSecs: number;
}

/** Longer than any header that an engine takes. */
const tokenLengthMax = 65_536;
/** RFC 6750 §2.1: what may follow `Bearer`. */
const bearerToken = /^[A-Za-z0-9\-._~+/]+=*$/;
/** `Number` alone would also read `0x10`, blanks and nothing. */
const decimalSecs = /^\d{1,20}(\.\d{1,20})?$/;
/** No token is kept longer, whatever lifetime is stated. */
const daySecs = 86_400;

/** The token, or undefined. `wanted` is the requested kind; `nowSecs` Unix seconds. */
export function readIssued(
  json: unknown,
  wanted: string | undefined,
  nowSecs: number,
): IssuedToken | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const answer = json as Readonly<Record<string, unknown>>;
  // RFC 6749 §5.2: an answer with an error is a refusal, whatever else it holds and whatever its
  // status.
  if (answer["error"] !== undefined) return undefined;
  const token = answer["access_token"];
  if (typeof token !== "string" || token.length > tokenLengthMax || !bearerToken.test(token)) {
    return undefined;
  }
  // `N_A` marks a token that is no access token; any other type needs a proof that we do not make.
  const kind = answer["token_type"];
  if (typeof kind !== "string" || kind.toLowerCase() !== "bearer") return undefined;
  // RFC 8693 §2.2.1 requires it, but many servers leave it out. It must be there only where a kind
  // was asked for.
  const issued = answer["issued_token_type"];
  if (issued !== undefined && typeof issued !== "string") return undefined;
  if (wanted !== undefined && issued !== wanted) return undefined;
  const livesSecs = lifeOf(answer["expires_in"], token, nowSecs);
  return livesSecs === undefined ? undefined : { token: new Secret(token), livesSecs };
}

/** Undefined for a token that has expired or whose expiry is nonsense. */
function lifeOf(expiresIn: unknown, token: string, nowSecs: number): number | undefined {
  if (expiresIn === undefined) {
    const end = endOf(token);
    if (end === undefined) return 0;
    if (typeof end !== "number" || !Number.isFinite(end)) return undefined;
    return end > nowSecs ? Math.min(end - nowSecs, daySecs) : undefined;
  }
  // Some servers write numbers as text.
  const isText = typeof expiresIn === "string" && decimalSecs.test(expiresIn);
  const secs = isText ? Number(expiresIn) : expiresIn;
  if (typeof secs !== "number" || !Number.isFinite(secs) || secs <= 0) return undefined;
  return Math.min(secs, daySecs);
}

/** The token is not verified, so this may be of any type. */
function endOf(token: string): unknown {
  try {
    return decodeJwt(token).exp;
  } catch {
    return undefined;
  }
}
