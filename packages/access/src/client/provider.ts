/**
 * What all providers of verified users share: only here does a credential become a login. No credential means
 * refused or `anonymous`, a recent login is remembered, guesses are slowed down, and the provider verifies
 * everything else.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type {
  Authenticator,
  Login,
  Presented,
  ScramChallenge,
} from "@gateway/core/port/authenticator.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { pause } from "@gateway/core/tool/pause.ts";
import { originOf } from "./origin.ts";
import { LoginPace } from "./pace.ts";

/** A credential of some kind. */
export type Shown = Exclude<Presented, { kind: "nothing" }>;

/** One way to verify users. */
export interface Provider extends AsyncDisposable {
  /** True where a token is a credential. */
  readonly takesTokens?: boolean;
  /** Who issues them. */
  readonly tokenIssuer?: string;
  /** A recent login that still holds. Every request asks for it, so it only looks things up. */
  recall(shown: Shown): Login | undefined;
  /** Refuses with `auth.refused` or `auth.unavailable`. Where logins have to wait, each `origin` takes turns. */
  verify(shown: Shown, origin: string): Promise<Result<Login, GatewayError>>;
  /**
   * The identity of a session as it is now. Undefined for a user who must log in again, and so for every
   * session that another provider verified.
   */
  renew(identity: AuthContext): AuthContext | undefined;
  scram?(user: string): ScramChallenge | undefined;
}

export interface ClosableAuthenticator extends Authenticator, AsyncDisposable {}

/** Makes the authenticator over `provider`. `required`: a client without a credential is refused. */
export function verifying(
  provider: Provider,
  required: boolean,
  host: Pick<Host, "clock">,
): ClosableAuthenticator {
  const pace = new LoginPace(host.clock);
  return {
    asksPassword: true,
    takesTokens: provider.takesTokens ?? false,
    tokenIssuer: provider.tokenIssuer,
    ...(provider.scram !== undefined && {
      scram: (user: string) => provider.scram?.(user),
    }),
    renew: (identity) => {
      if (identity.method !== "anonymous") return provider.renew(identity);
      return required ? undefined : identity;
    },
    authenticate: async (presented, { address }) => {
      if (presented.kind === "nothing") {
        return required || presented.asked ? err(gatewayError("auth.required")) : ok(anonymous());
      }
      const remembered = provider.recall(presented);
      if (remembered !== undefined) return ok(remembered);
      const user = userOf(presented);
      const origin = originOf(address);
      const waitMs = pace.waitMs(origin, user);
      if (waitMs > 0) await pause(host.clock, waitMs);
      const login = await provider.verify(presented, origin);
      if (login.ok) pace.succeeded(origin, user);
      else if (login.error.code === "auth.refused") pace.failed(origin, user);
      return login;
    },
    recall: (presented) => (presented.kind === "nothing" ? undefined : provider.recall(presented)),
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

/** The name that is guessed at. A token belongs to no name, so guesses at tokens count for the address alone. */
function userOf(shown: Shown): string | undefined {
  return shown.kind === "password" || shown.kind === "scram" ? shown.user : undefined;
}

/** The identity of a client that shows no credential where none is needed. The name it claims is not believed. */
function anonymous(): Login {
  const identity: AuthContext = Object.freeze({
    user: "anonymous",
    groups: Object.freeze([]),
    roles: Object.freeze([]),
    method: "anonymous",
  });
  return { identity, credential: { kind: "none" } };
}

/** Limits of what a provider outside this process may say of a user. */
const groupsMax = 1_000;
const nameLengthMax = 256;

/**
 * True for text that may be the name of a user: no invisible character, no space around it, and not the
 * reserved name in any spelling that a directory takes for it.
 */
export function isUserName(text: string): boolean {
  if (!isLabel(text) || text.trim() !== text || /[\p{Cf}\p{DI}]/u.test(text)) return false;
  return text.normalize("NFKC").toLowerCase() !== "anonymous";
}

/**
 * Each name of a group or a role once. Undefined when there are too many or one can not be a name:
 * leaving names out would grant something else.
 */
export function namesOf(texts: readonly string[]): readonly string[] | undefined {
  if (texts.length > groupsMax || !texts.every(isLabel)) return undefined;
  return [...new Set(texts)];
}

function isLabel(text: string): boolean {
  if (text.length === 0 || text.length > nameLengthMax) return false;
  return !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text);
}

/**
 * A value that a provider says as an attribute: a text, or a list of texts. Undefined for one that can be none, with
 * the limits of names: half a value would be another value.
 */
export function attributeOf(value: unknown): string | readonly string[] | undefined {
  if (!Array.isArray(value)) return attributeText(value);
  if (value.length > groupsMax) return undefined;
  const texts = value.map(attributeText);
  const known = texts.filter((text) => text !== undefined);
  return known.length === texts.length ? Object.freeze(known) : undefined;
}

function attributeText(value: unknown): string | undefined {
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof text === "string" && isLabel(text) ? text : undefined;
}
