/**
 * Provider `none`: the client's name is believed unverified. For loopback and trusted networks.
 * `validate` refuses it together with anything that needs a verified name.
 */
import type { Authenticator, Presented } from "@gateway/core/port/authenticator.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import { ok } from "@gateway/core/result.ts";

export function noneAuthenticator(): Authenticator {
  return {
    asksPassword: false,
    // A session that another provider verified ends: its user is no longer verified.
    renew: (identity) => (identity.method === "none" ? identity : undefined),
    authenticate: async (presented) => {
      const identity: AuthContext = Object.freeze({
        user: claimedName(presented) ?? "anonymous",
        groups: Object.freeze([]),
        roles: Object.freeze([]),
        method: "none",
      });
      return ok({ identity, credential: { kind: "none" } });
    },
  };
}

function claimedName(presented: Presented): string | undefined {
  return presented.kind === "bearer" ? presented.claimedUser : presented.user;
}
