/**
 * A real provider of identities (oidc-provider) whose clients `alice` and `bob` get access tokens for
 * themselves, and whose client `gateway` may exchange them for tokens of another audience. Its keys can
 * be changed, and it can be slowed down and stopped.
 */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { jwtVerify } from "jose";
import { errors, Provider, type Configuration, type ResourceServer } from "oidc-provider";

const users = ["alice", "bob"] as const;
const secretOf = (user: string): string => `${user}-client-secret-of-some-length`;
const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";
/** Resources are named by URIs; the audience is what tokens say. */
const resource = "urn:example:gateway";

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

export class OidcServer implements AsyncDisposable {
  readonly #server = createServer((request, response) => {
    const isToken = request.url?.startsWith("/token") === true;
    if (this.slow && !isToken) return;
    void this.#handle?.(request, response);
  });
  #handle: Handler | undefined;
  #port = 0;
  /** Takes questions about keys and never answers them. */
  slow = false;

  static async start(): Promise<OidcServer> {
    const made = new OidcServer();
    await made.#listen(0);
    made.rotate();
    return made;
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** What `gateway` shows to exchange tokens. */
  get exchange() {
    return {
      tokenEndpoint: `${this.issuer}/token`,
      clientId: "gateway",
      clientSecret: secretOf("gateway"),
    };
  }

  /** New keys, and none of the old ones. */
  rotate(): void {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const kid = `key-${process.hrtime.bigint()}`;
    const jwk = { ...privateKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" };
    const provider = new Provider(this.issuer, configurationOf(jwk));
    const key = createPublicKey(privateKey);
    provider.registerGrantType(
      exchangeGrant,
      async (context) => {
        const params = context.oidc.params ?? {};
        const { payload } = await jwtVerify(String(params["subject_token"]), key, {
          issuer: this.issuer,
          audience: "gateway",
        }).catch(() => {
          throw new errors.InvalidRequest("the subject token is not valid");
        });
        context.body = await issued(provider, payload.sub ?? "", String(params["audience"]));
      },
      ["subject_token", "subject_token_type", "audience"],
    );
    this.#handle = provider.callback();
  }

  async tokenFor(user: (typeof users)[number]): Promise<string> {
    const response = await fetch(`${this.issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${user}:${secretOf(user)}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials", resource }),
    });
    const answer = (await response.json()) as { readonly access_token?: string };
    if (answer.access_token === undefined) throw new Error(`no token: ${JSON.stringify(answer)}`);
    return answer.access_token;
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }

  async restart(): Promise<void> {
    await this.#listen(this.#port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.stop();
  }

  async #listen(port: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }
}

/** A token of the user for another audience. */
async function issued(provider: Provider, user: string, audience: string): Promise<object> {
  const client = await provider.Client.find(user);
  if (client === undefined) throw new errors.InvalidRequest("nobody");
  const token = new provider.ClientCredentials({ client, scope: "query" });
  token.resourceServer = new provider.ResourceServer(resource, resourceFor(audience));
  const expiresIn = token.expiration;
  return {
    access_token: await token.save(),
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
    token_type: token.tokenType,
    expires_in: expiresIn,
  };
}

function resourceFor(audience: string): ResourceServer {
  return {
    scope: "query",
    audience,
    accessTokenTTL: 3_600,
    accessTokenFormat: "jwt",
    jwt: { sign: { alg: "RS256" } },
  };
}

function configurationOf(jwk: object): Configuration {
  return {
    clients: [...users, "gateway"].map((user) => ({
      client_id: user,
      client_secret: secretOf(user),
      grant_types: user === "gateway" ? [exchangeGrant] : ["client_credentials"],
      response_types: [],
      redirect_uris: [],
      // The gateway's may be in the body too.
      token_endpoint_auth_method: user === "gateway" ? "client_secret_post" : "client_secret_basic",
    })),
    jwks: { keys: [jwk] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => resourceFor("gateway"),
      },
    },
    extraTokenClaims: () => ({ realm_access: { groups: ["readers"] } }),
  };
}
