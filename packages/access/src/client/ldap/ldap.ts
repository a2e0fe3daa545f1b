/**
 * Provider `ldap`: a directory knows the users. A login is a bind with the user's own password, or a
 * certificate whose name the directory knows; what the directory says is remembered for a minute.
 */
import { createHash } from "node:crypto";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  isUserName,
  namesOf,
  verifying,
  type ClosableAuthenticator,
  type Provider,
  type Shown,
} from "../provider.ts";
import { VerifiedLogins } from "../verified.ts";
import type { LdapConfig } from "./config.ts";
import { Directory, type DirectoryUser, type NoUser } from "./directory.ts";

export interface LdapProviderConfig {
  readonly required: boolean;
  readonly sessionMaxSecs: number;
  readonly ldap: LdapConfig;
}

/** More than any directory takes. Hashing a longer one would only cost it time. */
const passwordLengthMax = 1_024;

/** Connects to nothing before the first login comes. */
export function ldapAuthenticator(config: LdapProviderConfig, host: Host): ClosableAuthenticator {
  return verifying(new LdapProvider(config, host), config.required, host);
}

type PasswordShown = Extract<Shown, { kind: "password" }>;
type CertificateShown = Extract<Shown, { kind: "certificate" }>;

class LdapProvider implements Provider {
  readonly #config: LdapProviderConfig;
  readonly #host: Host;
  readonly #directory: Directory;
  readonly #verified: VerifiedLogins<AuthContext>;
  /** With a key of its own, so that no name and password are ever taken for a certificate. */
  readonly #certified: VerifiedLogins<AuthContext>;
  readonly #realm: string;

  constructor(config: LdapProviderConfig, host: Host) {
    this.#config = config;
    this.#host = host;
    this.#directory = new Directory(config.ldap, host);
    this.#verified = new VerifiedLogins(host);
    this.#certified = new VerifiedLogins(host);
    this.#realm = realmOf(config.ldap);
  }

  recall(shown: Shown): Login | undefined {
    if (shown.kind === "certificate") {
      const name = nameOf(shown);
      const identity = name === undefined ? undefined : this.#certified.get(this.#nameKey(name));
      return identity && { identity, credential: { kind: "none" } };
    }
    if (shown.kind !== "password" || !isPassword(shown.password.reveal())) return undefined;
    const identity = this.#verified.get(this.#memoryKey(shown));
    return identity && loginOf(identity, shown);
  }

  async verify(shown: Shown, origin: string): Promise<Result<Login, GatewayError>> {
    if (shown.kind === "certificate") return this.#certify(shown, origin);
    // A directory can not be asked about a proof or a token.
    if (shown.kind !== "password") return err(gatewayError("auth.refused"));
    const password = shown.password.reveal();
    const askable = isUserName(shown.user) && isPassword(password);
    if (!askable) return err(gatewayError("auth.refused"));
    const user = shown.user.normalize("NFKC");
    const identity = this.#identityOf(await this.#directory.login(user, password, origin));
    if (!identity.ok) return identity;
    this.#verified.add(this.#memoryKey(shown), identity.value);
    return ok(loginOf(identity.value, shown));
  }

  /** The name counts as it is written: nothing folds it before the directory compares it. */
  async #certify(shown: CertificateShown, origin: string): Promise<Result<Login, GatewayError>> {
    const name = nameOf(shown);
    if (name === undefined) return err(gatewayError("auth.refused"));
    const identity = this.#identityOf(await this.#directory.find(name, origin));
    if (!identity.ok) return identity;
    this.#certified.add(this.#nameKey(name), identity.value);
    return ok({ identity: identity.value, credential: { kind: "none" } });
  }

  #identityOf(found: DirectoryUser | NoUser): Result<AuthContext, GatewayError> {
    if (found === "unavailable") return err(gatewayError("auth.unavailable"));
    if (found === "refused") return err(gatewayError("auth.refused"));
    const groups = namesOf(found.groups);
    if (groups === undefined || !isUserName(found.name)) return err(gatewayError("auth.refused"));
    const identity: AuthContext = Object.freeze({
      user: found.name,
      groups: Object.freeze(groups),
      roles: Object.freeze([]),
      ...(found.attributes !== undefined && { attributes: found.attributes }),
      method: "ldap",
      realm: this.#realm,
      expiresAtMs: this.#host.clock.unixMs() + this.#config.sessionMaxSecs * 1_000,
    });
    return ok(identity);
  }

  renew(identity: AuthContext): AuthContext | undefined {
    return identity.method === "ldap" && identity.realm === this.#realm ? identity : undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#directory[Symbol.asyncDispose]();
  }

  #memoryKey({ user, password }: PasswordShown): string {
    return this.#verified.keyOf(password, [this.#realm, user]);
  }

  #nameKey(name: string): string {
    return this.#certified.key([this.#realm, name]);
  }
}

/** The one name that is meant: the one that the client claims, or the certificate's only one. */
function nameOf({ user, names }: CertificateShown): string | undefined {
  const own = new Set(names);
  const [only] = own;
  const meant = user ?? (own.size === 1 ? only : undefined);
  if (meant === undefined || !own.has(meant) || !isUserName(meant)) return undefined;
  return meant.normalize("NFKC") === meant ? meant : undefined;
}

/** An empty password would be a bind without a name, which directories accept; NUL ends a text for some of them. */
function isPassword(password: string): boolean {
  return password !== "" && password.length <= passwordLengthMax && !password.includes("\0");
}

/** The credential stays what the client showed, because an engine may have to see it too. */
function loginOf(identity: AuthContext, { user, password }: PasswordShown): Login {
  return { identity, credential: { kind: "password", user, password } };
}

/** The settings by which users and groups are found: changing one ends the sessions that began under it. */
function realmOf(config: LdapConfig): string {
  const { url, userSearchBase, userSearchFilter, userDnTemplate, bindDn } = config;
  const { groupSearchBase, groupSearchFilter, groupNameAttribute, attributes } = config;
  const users = [url, userSearchBase, userSearchFilter, userDnTemplate, bindDn];
  const groups = [groupSearchBase, groupSearchFilter, groupNameAttribute];
  const settings = JSON.stringify(["ldap", ...users, ...groups, attributes]);
  return createHash("sha256").update(settings).digest("base64url");
}
