/**
 * Logins that an engine verifies by letting them in, in the place of the gateway's own provider.
 *
 * Whom it let in is somebody for the clusters of that account only. Everywhere else that user is nobody: the name
 * begins with what no other login may have, so that no list, policy or owner of a query takes it for a user of the
 * provider, and groups with any other cluster are closed to it.
 */
import type { GroupConfig } from "@gateway/contract/config/group.ts";
import { gatewayError, type GatewayError } from "../error.ts";
import type { Authenticator, Login, Presented, PresentedPassword } from "../port/authenticator.ts";
import type { Authorizer } from "../port/authorizer.ts";
import type { Backend, EngineLogins } from "../port/backend.ts";
import type { AuthContext } from "../query/identity.ts";
import { err, ok, type Result } from "../result.ts";

/** What the names of such users begin with, and of no others. */
const namePrefix = "engine:";
/** Longest name and password that an engine is asked about, in UTF-16 units. */
const nameMax = 256;
const passwordMax = 4_096;

type Backends = ReadonlyMap<string, Pick<Backend, "logins">>;

/** The authenticator that asks the engine where a login names its account, and `provider` otherwise. */
export function withEngineLogins(provider: Authenticator, backends: Backends): Authenticator {
  return {
    get asksPassword() {
      return provider.asksPassword;
    },
    get takesTokens() {
      return provider.takesTokens ?? false;
    },
    get tokenIssuer() {
      return provider.tokenIssuer;
    },
    ...(provider.scram !== undefined && {
      scram: (user: string) => provider.scram?.(user),
    }),
    renew: (identity) => {
      if (identity.method !== "engine") return provider.renew(identity);
      const { realm } = identity;
      return loginsIn(backends).some((logins) => logins.realm === realm) ? identity : undefined;
    },
    authenticate: async (presented, at) => {
      const engines = namesAccount(presented) ? loginsFor(presented.account, backends) : [];
      const [engine, ...others] = engines;
      if (engine !== undefined && namesAccount(presented)) {
        // The same name at two addresses: a password is not tried out.
        if (others.length > 0) return err(gatewayError("auth.refused"));
        return await verifiedBy(engine, presented);
      }
      const login = await provider.authenticate(presented, at);
      return login.ok && isReserved(login.value.identity.user)
        ? err(gatewayError("auth.refused"))
        : login;
    },
    recall: (presented) => {
      const known = namesAccount(presented) ? undefined : provider.recall?.(presented);
      return known === undefined || isReserved(known.identity.user) ? undefined : known;
    },
  };
}

function namesAccount(
  presented: Presented,
): presented is PresentedPassword & { readonly account: string } {
  return presented.kind === "password" && presented.account !== undefined;
}

async function verifiedBy(
  engine: EngineLogins,
  { user, password }: PresentedPassword,
): Promise<Result<Login, GatewayError>> {
  const isAskable =
    user !== "" &&
    user.length <= nameMax &&
    !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(user) &&
    password.reveal() !== "" &&
    password.reveal().length <= passwordMax;
  if (!isAskable) return err(gatewayError("auth.refused"));
  const answer = await engine.logIn({ user, password });
  if (!answer.ok) return answer;
  const { realm } = engine;
  const identity: AuthContext = Object.freeze({
    user: `${namePrefix}${realm}:${answer.value}`,
    groups: Object.freeze([]),
    roles: Object.freeze([]),
    method: "engine",
    realm,
  });
  return ok({ identity, credential: { kind: "password", user, password } });
}

/** The name that was found to be no such one last: over HTTP each query is a login. */
let lastFree = "";

/** Whatever a directory takes for the same letters. */
function isReserved(user: string): boolean {
  if (user === lastFree) return false;
  const isTaken = user.normalize("NFKC").toLowerCase().startsWith(namePrefix);
  if (!isTaken) lastFree = user;
  return isTaken;
}

function loginsIn(backends: Backends): readonly EngineLogins[] {
  return [...backends.values()].flatMap(({ logins }) => logins ?? []);
}

/** One of each account that goes by the name, whole or without the region behind it. */
function loginsFor(account: string, backends: Backends): readonly EngineLogins[] {
  const all = [...new Map(loginsIn(backends).map((logins) => [logins.realm, logins])).values()];
  const wanted = account.toLowerCase();
  const exact = all.filter((logins) => logins.account.toLowerCase() === wanted);
  if (exact.length > 0) return exact;
  return all.filter((logins) => withoutRegion(logins.account) === withoutRegion(wanted));
}

function withoutRegion(account: string): string {
  return account.toLowerCase().split(".", 1)[0] ?? "";
}

/** Closes to users whom an engine let in every group that has a cluster of another account, or of none. */
export function withinRealm(
  authorizer: Authorizer,
  groups: Readonly<Record<string, Pick<GroupConfig, "members">>>,
  backends: Backends,
): Authorizer {
  const isWithin = (group: string, realm: string | undefined): boolean => {
    const members = Object.hasOwn(groups, group) ? (groups[group]?.members ?? []) : [];
    // A cluster that is switched off was not opened; the group goes on with the others.
    const open = members.flatMap((name) => backends.get(name) ?? []);
    return (
      open.length > 0 && open.every(({ logins }) => logins !== undefined && logins.realm === realm)
    );
  };
  return {
    mayUse: (identity, group, signal) =>
      identity.method === "engine" && !isWithin(group, identity.realm)
        ? false
        : authorizer.mayUse(identity, group, signal),
    mayCancel: (identity, group) => authorizer.mayCancel(identity, group),
  };
}
