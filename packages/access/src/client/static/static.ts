/**
 * Provider `static`: a fixed set of users with bcrypt hashes.
 *
 * An unknown user costs the same comparison as a known one, and both are refused with the same code,
 * so neither time nor text tells who exists.
 */
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type { StaticUser } from "../config.ts";
import { verifying, type ClosableAuthenticator, type Shown } from "../provider.ts";
import { VerifiedLogins } from "../verified.ts";
import { Hasher } from "./hasher.ts";
import { UserKeys } from "./keyPair.ts";
import { checkProof, fakeVerifier, readVerifier, shareOf, type ScramVerifier } from "./scram.ts";

/** bcrypt looks at 72 bytes; more would make two passwords equal. */
const passwordBytesMax = 72;

export interface StaticConfig {
  readonly required: boolean;
  readonly staticUsers: {
    readonly account?: string | undefined;
    readonly users: Readonly<Record<string, StaticUser>>;
  };
}

export function staticAuthenticator(config: StaticConfig, host: Host): ClosableAuthenticator {
  const { account, users: entries } = config.staticUsers;
  const users = usersOf(entries);
  const verified = new VerifiedLogins<true>(host);
  const hasher = new Hasher(host);
  const crowd = onceCalled(() => crowdOf(Object.values(entries)));
  const keys = onceCalled(() => new UserKeys(account, entries));
  const decoyFor = (user: string): string => decoyHash(crowd().costs, nameKeyOf(host), user);
  const keyOf = (user: string, password: Secret, hash: string): string =>
    verified.keyOf(password, [user, hash]);
  function recall(shown: Shown): Login | undefined {
    if (shown.kind !== "password") return undefined;
    const { user, password } = shown;
    if (isTooLong(password)) return undefined;
    const entry = withPassword(users.get(user));
    // A name without a user is looked up too, so that no part of the work reveals who is a user.
    const known = verified.get(keyOf(user, password, entry === undefined ? "" : hashOf(entry)));
    return entry === undefined || !known ? undefined : loginOf(user, entry, password);
  }

  async function compare(
    { user, password }: PasswordShown,
    origin: string,
  ): Promise<Result<Login, GatewayError>> {
    const entry = withPassword(users.get(user));
    // Made for users too, so that no part of the work reveals who is a user.
    const decoy = decoyFor(user);
    const hash = entry === undefined ? decoy : hashOf(entry);
    const outcome = await hasher.compare(password, hash, origin);
    if (outcome === "busy" || outcome === "failed") return err(gatewayError("auth.unavailable"));
    const right = outcome === "match" && password.reveal() !== "" && !isTooLong(password);
    if (entry === undefined || !right) return err(gatewayError("auth.refused"));
    verified.add(keyOf(user, password, hash), true);
    return ok(loginOf(user, entry, password));
  }

  const scram = scramUsers(users, crowd, nameKeyOf(host));
  function prove({ user, authMessage, clientProof }: ScramShown): Result<Login, GatewayError> {
    const entry = users.get(user);
    const signature = checkProof(scram.verifierOf(user), authMessage, clientProof);
    if (entry?.scramVerifier === undefined || signature === undefined) {
      return err(gatewayError("auth.refused"));
    }
    return ok({ ...loginWithout(user, entry), serverSignature: signature });
  }

  async function verify(shown: Shown, origin: string): Promise<Result<Login, GatewayError>> {
    switch (shown.kind) {
      case "password":
        return compare(shown, origin);
      case "bearer":
        return err(gatewayError("auth.refused"));
      case "scram":
        return prove(shown);
      case "certificate":
        return certified(shown, users);
      case "keyPair":
        return signed(keys().userOf(shown.token, shown.user, host.clock.unixMs()), users);
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

/** Nobody has a password this long. The main thread computes nothing for it that grows with its length. */
function isTooLong(password: Secret): boolean {
  // A unit of text takes three bytes at most.
  if (password.reveal().length * 3 <= passwordBytesMax) return false;
  return Buffer.byteLength(password.reveal(), "utf8") > passwordBytesMax;
}

type PasswordShown = Extract<Shown, { kind: "password" }>;
type ScramShown = Extract<Shown, { kind: "scram" }>;
type CertificateShown = Extract<Shown, { kind: "certificate" }>;

/** Names that the certificate holds and that are users; the client must be one of them, and the only one unless it says which. */
function certified({ user, names }: CertificateShown, users: Users): Result<Login, GatewayError> {
  const known = [...new Set(names)].filter((name) => users.has(name));
  const [only, second] = known;
  const meant = user ?? (second === undefined ? only : undefined);
  const entry = meant !== undefined && known.includes(meant) ? users.get(meant) : undefined;
  if (meant === undefined || entry === undefined) return err(gatewayError("auth.refused"));
  return ok(loginWithout(meant, entry));
}

/** The user who signed a token; undefined where nobody did. */
function signed(user: string | undefined, users: Users): Result<Login, GatewayError> {
  const entry = user === undefined ? undefined : users.get(user);
  if (user === undefined || entry === undefined) return err(gatewayError("auth.refused"));
  return ok(loginWithout(user, entry));
}

/** One key for all generations of a process, so that a name without a user gets the same answer after a change of the config. */
const nameKeys = new WeakMap<object, Uint8Array>();

function nameKeyOf(host: Pick<Host, "threads" | "randomBytes">): Uint8Array {
  const owner = host.threads;
  const key = nameKeys.get(owner) ?? host.randomBytes(32);
  nameKeys.set(owner, key);
  return key;
}

/** The users by name. Nothing is prepared for each of thousands, because few log in. */
interface Users {
  get(name: string): StaticUser | undefined;
  has(name: string): boolean;
}

function usersOf(users: Readonly<Record<string, StaticUser>>): Users {
  // Names come from clients, and every object has a `constructor`.
  const has = (name: string): boolean => Object.hasOwn(users, name);
  // Over HTTP each query asks for its user, whose name is another text each time: to look a text up V8 puts it into its table.
  let lastName: string | undefined;
  let last: StaticUser | undefined;
  const get = (name: string): StaticUser | undefined => {
    if (name === lastName) return last;
    const found = has(name) ? users[name] : undefined;
    if (found !== undefined) {
      last = found;
      // A copy: what was cut from a credential keeps all of it.
      lastName = Buffer.from(name).toString();
    }
    return found;
  };
  return { has, get };
}

type Verifier = NonNullable<StaticUser["scramVerifier"]>;

/** What a name without a user imitates: the users' costs and verifiers. */
interface Crowd {
  /** Costs of the hashes, one for each user. */
  readonly costs: readonly number[];
  /** Verifiers of those who prove themselves by SCRAM. */
  readonly verifiers: readonly Verifier[];
}

function crowdOf(users: readonly StaticUser[]): Crowd {
  return {
    costs: users.flatMap((user) => {
      const known = withPassword(user);
      return known === undefined ? [] : [Number(hashOf(known).slice(4, 6))];
    }),
    verifiers: users.flatMap(({ scramVerifier }) => scramVerifier ?? []),
  };
}

/** `make` runs with the first call: all users are looked at when somebody logs in, not while queries wait for a new configuration. */
function onceCalled<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/**
 * The names that prove themselves by SCRAM. A name without a user is treated like a user: some are
 * asked for a proof and the others for the password, in the same shares as users, and each name
 * always alike.
 */
function scramUsers(users: Users, crowd: () => Crowd, key: Uint8Array) {
  const verifierFor = (user: string): ScramVerifier => {
    const own = users.get(user)?.scramVerifier;
    if (own !== undefined) return verifierOf(own);
    const { verifiers } = crowd();
    const like = verifiers[Math.floor(shareOf(key, `like:${user}`) * verifiers.length)];
    return fakeVerifier(key, user, like === undefined ? [] : [verifierOf(like)]);
  };
  return {
    verifierOf: verifierFor,
    challengeOf: (user: string) => {
      const { costs, verifiers } = crowd();
      const share = costs.length === 0 ? 0 : verifiers.length / costs.length;
      const entry = users.get(user);
      const proves =
        entry === undefined ? shareOf(key, user) < share : entry.scramVerifier !== undefined;
      if (!proves) return undefined;
      const { salt, iterations } = verifierFor(user);
      return { salt, iterations };
    },
  };
}

function verifierOf(text: Verifier): ScramVerifier {
  if (typeof text !== "string") throw new Error("a SCRAM verifier is still a reference");
  const verifier = readVerifier(text);
  if (verifier === undefined) throw new Error("a SCRAM verifier that can not be read");
  return verifier;
}

/** Identities that are as their entries say: each query asks, and neither of both changes. */
const known = new WeakMap<AuthContext, StaticUser>();

/** This provider verifies every name, so a session that began unverified ends. */
function renewed(identity: AuthContext, users: Users): AuthContext | undefined {
  const entry = identity.method === "static" ? users.get(identity.user) : undefined;
  if (entry === undefined) return undefined;
  if (known.get(identity) === entry) return identity;
  const same =
    sameNames(identity.groups, entry.groups) &&
    sameNames(identity.roles, entry.roles) &&
    JSON.stringify(identity.attributes) === JSON.stringify(entry.attributes);
  if (!same) return identityOf(identity.user, entry);
  known.set(identity, entry);
  return identity;
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

type PasswordUser = StaticUser & { readonly passwordHash: NonNullable<StaticUser["passwordHash"]> };

/** Undefined for a user who has keys only, whose passwords are refused like those of nobody. */
function withPassword(entry: StaticUser | undefined): PasswordUser | undefined {
  return entry?.passwordHash === undefined ? undefined : (entry as PasswordUser);
}

/** References are resolved before a provider opens, so one that is left is a bug. */
function hashOf({ passwordHash }: PasswordUser): string {
  if (typeof passwordHash === "string") return passwordHash;
  throw new Error("a password hash is still a reference");
}

function loginOf(user: string, entry: StaticUser, password: Secret): Login {
  return { identity: identityOf(user, entry), credential: { kind: "password", user, password } };
}

/** For logins without a credential to pass through. */
function loginWithout(user: string, entry: StaticUser): Login {
  return { identity: identityOf(user, entry), credential: { kind: "none" } };
}

/** The identity that an entry gives, made once: over HTTP each query is a login. */
const identities = new WeakMap<StaticUser, AuthContext>();

function identityOf(user: string, entry: StaticUser): AuthContext {
  const made = identities.get(entry);
  if (made?.user === user) return made;
  const identity = newIdentity(user, entry);
  identities.set(entry, identity);
  known.set(identity, entry);
  return identity;
}

function newIdentity(user: string, entry: StaticUser): AuthContext {
  return Object.freeze({
    user,
    groups: Object.freeze([...entry.groups]),
    roles: Object.freeze([...entry.roles]),
    ...(entry.attributes !== undefined && { attributes: Object.freeze({ ...entry.attributes }) }),
    method: "static",
  });
}

/** Where there are no users. */
const costDefault = 10;

/**
 * A hash that no password matches, for a name without a user. Each name always gets the same cost, and costs
 * have the same shares as among users, so that the time of an answer does not reveal who is a user.
 */
function decoyHash(costs: readonly number[], key: Uint8Array, user: string): string {
  const like = Math.floor(shareOf(key, `cost:${user}`) * costs.length);
  const cost = String(costs[like] ?? costDefault).padStart(2, "0");
  return `$2b$${cost}$${".".repeat(21)}O${".".repeat(31)}`;
}
