/** As whom each cluster of a generation sees its queries, and who may see which tables. */
import type { QueryAuth } from "@gateway/contract/config/queryAuth.ts";
import type { GatewayError } from "../error.ts";
import { onFirstUse } from "../tool/firstUse.ts";
import type { AuthContext } from "../query/identity.ts";
import type { Backend } from "../port/backend.ts";
import type { TokenExchange } from "../port/tokenExchange.ts";
import { backendIdentityOf, type IdentityRule } from "./backendIdentity.ts";
import type { Identified, Policed, Translated } from "../query/query.ts";
import { identifiedAs } from "../query/stages.ts";
import { ok, type Result } from "../result.ts";
import type { Generation } from "./generation.ts";

export interface Identities {
  readonly identify: Generation["identify"];
  audience(query: Policed, members: readonly { readonly cluster: string }[]): string;
}

/** `backends` has every enabled cluster; `exchanges` those under `tokenExchange`. */
export function compileIdentities(
  clusters: Readonly<Record<string, { readonly queryAuth?: QueryAuth | undefined }>>,
  {
    backends,
    exchanges,
  }: {
    readonly backends: ReadonlyMap<string, Backend>;
    readonly exchanges?: ReadonlyMap<string, TokenExchange>;
  },
): Identities {
  const rules = onFirstUse(clusters, (name, { queryAuth }): IdentityRule => ({
    queryAuth: queryAuth ?? { type: "serviceAccount" },
    forwards: backends.get(name)?.forwards ?? [],
    realm: backends.get(name)?.logins?.realm,
    exchange: exchanges?.get(name),
  }));
  const ruleOf = (cluster: string): IdentityRule => {
    const rule = rules.get(cluster);
    if (rule === undefined) throw new Error(`not in this generation: ${cluster}`);
    return rule;
  };
  return {
    identify: (query, signal) => {
      const rule = ruleOf(query.slot.cluster);
      return isShared(rule) && query.session.identity.method !== "engine"
        ? ok(identifiedAs(query, serviceAccount))
        : asThemselves(query, rule, signal);
    },
    audience: ({ session }, members) =>
      members.every(({ cluster }) => isShared(ruleOf(cluster)))
        ? "everyone"
        : audienceOf(session.identity),
  };
}

const serviceAccount = { mode: "serviceAccount" } as const;

async function asThemselves(
  query: Translated,
  rule: IdentityRule,
  signal: AbortSignal,
): Promise<Result<Identified, GatewayError>> {
  const backendIdentity = await backendIdentityOf(query, rule, signal);
  return backendIdentity.ok ? ok(identifiedAs(query, backendIdentity.value)) : backendIdentity;
}

function isShared({ queryAuth }: IdentityRule): boolean {
  return queryAuth.type === "serviceAccount";
}

/** Equal only for logins with exactly the same rights. */
function audienceOf({ user, groups, roles, method, realm }: AuthContext): string {
  return JSON.stringify([user, method, realm ?? null, groups, roles]);
}
