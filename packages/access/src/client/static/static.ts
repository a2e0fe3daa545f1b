/**
 * Provider `static`: a fixed set of users with bcrypt hashes.
 *
 * An unknown user costs the same comparison as a known one, and both are refused with the same code,
 * so neither time nor text tells who exists.
 */
import type {
  AuthContext,
  Authenticator,
  Login,
  Presented,
  PresentedAt,
} from "@gateway/core/port/authenticator.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type { StaticUser } from "../config.ts";
import { Hasher } from "./hasher.ts";
import { VerifiedLogins } from "./verified.ts";

/** bcrypt looks at 72 bytes; more would make two passwords equal. */
const passwordBytesMax = 72;

/** Protocols whose clients are always asked for a password, so that showing none is a refused login and never `anonymous`. */
const askingFrontends: ReadonlySet<string> = new Set(["postgresWire", "mysqlWire"]);

export interface StaticConfig {
  readonly required: boolean;
  readonly staticUsers: { readonly users: Readonly<Record<string, StaticUser>> };
}

export interface ClosableAuthenticator extends Authenticator, AsyncDisposable {}

export function staticAuthenticator(config: StaticConfig, host: Host): ClosableAuthenticator {
  const users = new Map(Object.entries(config.staticUsers.users));
  const verified = new VerifiedLogins(host);
  const hasher = new Hasher(host);
  const decoy = decoyHash([...users.values()].map(hashOf));

  async function verify(user: string, password: Secret): Promise<Result<Login, GatewayError>> {
    const entry = users.get(user);
    const hash = entry === undefined ? decoy : hashOf(entry);
    const key = verified.key(user, password, hash);
    if (entry !== undefined && verified.has(key)) return ok(loginOf(user, entry, password));

    const outcome = await hasher.compare(password, hash);
    if (outcome === "busy" || outcome === "failed") return err(gatewayError("auth.unavailable"));
    const length = Buffer.byteLength(password.reveal(), "utf8");
    const right = outcome === "match" && length > 0 && length <= passwordBytesMax;
    if (entry === undefined || !right) return err(gatewayError("auth.refused"));
    verified.add(key);
    return ok(loginOf(user, entry, password));
  }

  async function authenticate(
    presented: Presented,
    { frontend }: PresentedAt,
  ): Promise<Result<Login, GatewayError>> {
    switch (presented.kind) {
      case "password":
        return verify(presented.user, presented.password);
      case "bearer":
        return err(gatewayError("auth.refused"));
      case "nothing":
        return config.required || askingFrontends.has(frontend)
          ? err(gatewayError("auth.required"))
          : ok(anonymous());
    }
  }

  return {
    asksPassword: true,
    renew: (identity) => renewed(identity, users, config.required),
    authenticate,
    [Symbol.asyncDispose]: () => hasher[Symbol.asyncDispose](),
  };
}

/** A name alone was never verified here, so a session that began without verification ends. */
function renewed(
  identity: AuthContext,
  users: ReadonlyMap<string, StaticUser>,
  required: boolean,
): AuthContext | undefined {
  if (identity.method === "anonymous") return required ? undefined : identity;
  const entry = identity.method === "static" ? users.get(identity.user) : undefined;
  if (entry === undefined) return undefined;
  const same = sameNames(identity.groups, entry.groups) && sameNames(identity.roles, entry.roles);
  return same ? identity : identityOf(identity.user, entry);
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

/** Start resolves references before a provider opens, so one that is left is a bug. */
function hashOf({ passwordHash }: StaticUser): string {
  if (typeof passwordHash === "string") return passwordHash;
  throw new Error("a password hash is still a reference");
}

function loginOf(user: string, entry: StaticUser, password: Secret): Login {
  return { identity: identityOf(user, entry), credential: { kind: "password", user, password } };
}

function identityOf(user: string, entry: StaticUser): AuthContext {
  return Object.freeze({
    user,
    groups: Object.freeze([...entry.groups]),
    roles: Object.freeze([...entry.roles]),
    method: "static",
  });
}

/** Whoever shows no credential where none is needed; the name it claims is not believed. */
function anonymous(): Login {
  const identity: AuthContext = Object.freeze({
    user: "anonymous",
    groups: Object.freeze([]),
    roles: Object.freeze([]),
    method: "anonymous",
  });
  return { identity, credential: { kind: "none" } };
}

/** A hash that no password matches, at the highest cost in use, so that unknown users take the time of known ones. */
function decoyHash(hashes: readonly string[]): string {
  const highest = hashes.reduce((most, hash) => Math.max(most, Number(hash.slice(4, 6))), 10);
  const cost = String(highest).padStart(2, "0");
  return `$2b$${cost}$${".".repeat(21)}O${".".repeat(31)}`;
}
