/** A real provider of identities (oidc-provider) that logs everybody in as one account, and asks nobody to consent. */
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

/** One client, `console`. `account` is asked with each sign-on. */
export async function startSignOnProvider({ clientSecret, redirectUri, account }) {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const jwk = { ...privateKey.export({ format: "jwk" }), kid: "k", alg: "RS256", use: "sig" };
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "console",
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        response_types: ["code"],
        grant_types: ["authorization_code"],
        token_endpoint_auth_method: "client_secret_basic",
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ["key of cookies"] },
    pkce: { required: () => true },
    conformIdTokenClaims: false,
    claims: { openid: ["sub"], profile: ["groups"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/sign-in/${uid}` },
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ ...account() }) }),
    loadExistingGrant: async ({ oidc }) => {
      const { client, session } = oidc;
      const grant = new oidc.provider.Grant({
        clientId: client?.clientId ?? "",
        accountId: session?.accountId ?? "",
      });
      grant.addOIDCScope("openid profile");
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  server.on("request", (request, response) => {
    const isSignIn = request.url?.startsWith("/sign-in/") === true;
    const login = { login: { accountId: account().sub } };
    if (isSignIn) void provider.interactionFinished(request, response, login);
    else void handle(request, response);
  });
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(() => resolve(undefined)));
    server.closeAllConnections();
    await closed;
  };
  return { issuer, stop };
}
