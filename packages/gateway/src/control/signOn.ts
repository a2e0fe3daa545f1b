/** The identity provider of administrators, as the configuration names it. Its code is loaded with the first sign-on. */
import type { OidcSignOn } from "@gateway/access/signOn/oidcSignOn.ts";
import { studioPaths } from "@gateway/contract/studioApi.ts";
import type { SignOnProvider } from "@gateway/control/deps.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { GatewayConfig } from "../config/schema.ts";
import { plainSecret } from "../config/secrets.ts";

export interface OwnedSignOn extends SignOnProvider, AsyncDisposable {}

/** Undefined where administrators have passwords only. */
export function signOnOf(
  { signOn }: GatewayConfig["adminApi"],
  host: Host,
): OwnedSignOn | undefined {
  if (signOn === undefined) return undefined;
  const { oidc: config } = signOn;
  let opened: Promise<OidcSignOn> | undefined;
  const provider = (): Promise<OidcSignOn> =>
    (opened ??= import("@gateway/access/signOn/oidcSignOn.ts").then(({ oidcSignOn }) => {
      const { clientSecret: secret } = config;
      const clientSecret = secret === undefined ? undefined : plainSecret(secret);
      const callbackPath = studioPaths.signOnOidcCallback;
      return oidcSignOn({ config, clientSecret, callbackPath }, host);
    }));
  return {
    title: config.title,
    begin: async () => (await provider()).begin(),
    finish: async (kept, answer) => (await provider()).finish(kept, answer),
    [Symbol.asyncDispose]: async () => {
      await (await opened)?.[Symbol.asyncDispose]();
    },
  };
}
