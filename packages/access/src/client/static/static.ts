/**
 * Provider `static`: a fixed set of users with bcrypt hashes.
 *
 * An unknown user costs the same comparison as a known one, and both are refused with the same code,
 * so neither time nor text tells who exists.
 */
import type { AuthContext, Login } from "@gateway/core/port/authenticator.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type { StaticUser } from "../config.ts";
import { verifying, type ClosableAuthenticator, type Shown } from "../provider.ts";
import { VerifiedLogins } from "../verified.ts";
import { Hasher } from "./hasher.ts";
import { checkProof, fakeVerifier, readVerifier, shareOf, type ScramVerifier } from "./scram.ts";

/** bcrypt looks at 72 bytes; more would make two passwords equal. */
const passwordBytesMax = 72;

export interface StaticConfig {
  readonly required: boolean;
  readonly staticUsers: { readonly users: Readonly<Record<string, StaticUser>> };
}

export function staticAuthenticator(config: StaticConfig, host: Host): ClosableAuthenticator {
  const users = new Map(Object.entries(config.staticUsers.users));
  const verified = new VerifiedLogins<true>(host);
  const hasher = new Hasher(host);
  const decoy = decoyHash([...users.values()].map(hashOf));

  const keyOf = (user: string, password: Secret, hash: string): string =>
    verified.key([user, password.reveal(), hash]);

  function recall(shown: Shown): Login | undefined {
    if (shown.kind !== "password") return undefined;
    const { user, password } = shown;
    const entry = users.get(user);
    if (entry === undefined) return undefined;
    const known = verified.get(keyOf(user, password, hashOf(entry)));
    return known === undefined ? undefined : loginOf(user, entry, password);
  }

  async function compare(user: string, password: Secret): Promise<Result<Login, GatewayError>> {
    const entry = users.get(user);
    const hash = entry === undefined ? decoy : hashOf(entry);
    const outcome = await hasher.compare(password, hash);
    if (outcome === "busy" || outcome === "failed") return err(gatewayError("auth.unavailable"));
    const length = Buffer.byteLength(password.reveal(), "utf8");
    const right = outcome === "match" && length > 0 && length <= passwordBytesMax;
    if (entry === undefined || !right) return err(gatewayError("auth.refused"));
    verified.add(keyOf(user, password, hash), true);
    return ok(loginOf(user, entry, password));
  }

  const scram = scramUsers(users, host);

  function prove({ user, authMessage, clientProof }: ScramShown): Result<Login, GatewayError> {
    const entry = users.get(user);
    const signature = checkProof(scram.verifierOf(user), authMessage, clientProof);
    if (entry?.scramVerifier === undefined || signature === undefined) {
      return err(gatewayError("auth.refused"));
    }
    return ok({ ...loginWithout(user, entry), serverSignature: signature });
  }

  async function verify(shown: Shown): Promise<Result<Login, GatewayError>> {
    switch (shown.kind) {
      case "password":
        return compare(shown.user, shown.password);
      case "bearer":
        return err(gatewayError("auth.refused"));
      case "scram":
        return prove(shown);
      case "certificate":
        return certified(shown, users);
    }
  }

  const provider = {
    recall,
    verify,
    renew: (identity: AuthContext) => renewed(identity, users),
    scram: (user: string) => scram.challengeOf(user),
    [Symbol.asyncDispose]: () => hasher[Symbol.asyncDispose](),
  };
  return verifying(provider, config.required, host);
}

type ScramShown = Extract<Shown, { kind: "scram" }>;
type CertificateShown = Extract<Shown, { kind: "certificate" }>;

/** Names that the certificate holds and that are users; the client must be one of them, and the only one unless it says which. */
function certified(
  { user, names }: CertificateShown,
  users: ReadonlyMap<string, StaticUser>,
): Result<Login, GatewayError> {
  const known = [...new Set(names)].filter((name) => users.has(name));
  const [only, second] = known;
  const meant = user ?? (second === undefined ? only : undefined);
  const entry = meant !== undefined && known.includes(meant) ? users.get(meant) : undefined;
  if (meant === undefined || entry === undefined) return err(gatewayError("auth.refused"));
  return ok(loginWithout(meant, entry));
}

/** One key for all generations of a process, so that the challenge for a name of nobody outlives a change of the config. */
const fakeKeys = new WeakMap<object, Uint8Array>();

/**
 * Who proves itself by SCRAM. A name of nobody is treated as a user is: some are asked for a proof and
 * the others for the password, in the shares that users have, and each name always alike.
 */
function scramUsers(users: ReadonlyMap<string, StaticUser>, host: Host) {
  const verifiers = new Map<string, ScramVerifier>();
  for (const [name, entry] of users) {
    const verifier = verifierOf(entry);
    if (verifier !== undefined) verifiers.set(name, verifier);
  }
  const share = users.size === 0 ? 0 : verifiers.size / users.size;
  const real = [...verifiers.values()];
  const owner = host.threads;
  const key = fakeKeys.get(owner) ?? host.randomBytes(32);
  fakeKeys.set(owner, key);
  const verifierFor = (user: string): ScramVerifier =>
    verifiers.get(user) ?? fakeVerifier(key, user, real);
  return {
    verifierOf: verifierFor,
    challengeOf: (user: string) => {
      const proves = users.has(user) ? verifiers.has(user) : shareOf(key, user) < share;
      if (!proves) return undefined;
      const { salt, iterations } = verifierFor(user);
      return { salt, iterations };
    },
  };
}

function verifierOf({ scramVerifier }: StaticUser): ScramVerifier | undefined {
  if (scramVerifier === undefined) return undefined;
  if (typeof scramVerifier !== "string") throw new Error("a SCRAM verifier is still a reference");
  const verifier = readVerifier(scramVerifier);
  if (verifier === undefined) throw new Error("a SCRAM verifier that can not be read");
  return verifier;
}

/** A name alone was never verified here, so a session that began without verification ends. */
function renewed(
  identity: AuthContext,
  users: ReadonlyMap<string, StaticUser>,
): AuthContext | undefined {
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

/** For logins that leave nothing to pass through. */
function loginWithout(user: string, entry: StaticUser): Login {
  return { identity: identityOf(user, entry), credential: { kind: "none" } };
}

function identityOf(user: string, entry: StaticUser): AuthContext {
  return Object.freeze({
    user,
    groups: Object.freeze([...entry.groups]),
    roles: Object.freeze([...entry.roles]),
    method: "static",
  });
}

/** A hash that no password matches, at the highest cost in use, so that unknown users take the time of known ones. */
function decoyHash(hashes: readonly string[]): string {
  const highest = hashes.reduce((most, hash) => Math.max(most, Number(hash.slice(4, 6))), 10);
  const cost = String(highest).padStart(2, "0");
  return `$2b$${cost}$${".".repeat(21)}O${".".repeat(31)}`;
}
