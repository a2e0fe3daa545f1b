/**
 * Attack 9: an address in the configuration that leads into the host's own network, by its number or by a name that means
 * it, and an answer that leads there. What is connected to is what was checked, and nobody is followed.
 */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { authorizationSchema } from "@gateway/access/group/config.ts";
import { openFgaAuthorizer } from "@gateway/access/group/openfga.ts";
import { openCatalog } from "@gateway/access/catalog/open.ts";
import { ldapSchema } from "@gateway/access/client/ldap/config.ts";
import { Directory } from "@gateway/access/client/ldap/directory.ts";
import { oidcSchema } from "@gateway/access/client/oidc/config.ts";
import { oidcAuthenticator } from "@gateway/access/client/oidc/oidc.ts";
import { tokenExchange } from "@gateway/access/exchange/exchange.ts";
import { guardService } from "@gateway/access/guard/webhook.ts";
import { policyOf } from "@gateway/access/policy/open.ts";
import { accessControlSchema } from "@gateway/contract/config/accessControl.ts";
import { catalogProviderSchema } from "@gateway/contract/config/catalogProvider.ts";
import { guardSchema, type WebhookConfig } from "@gateway/contract/config/guardrail.ts";
import { anyEgress, type Egress } from "@gateway/core/port/egress.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { sessionOf } from "@gateway/core/rig/session.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { allowListAuthorizer } from "@gateway/core/route/allowList.ts";
import { Secret } from "@gateway/core/secret.ts";
import { egressBy } from "@gateway/gateway/host/egress.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { guidedConfig } from "../fake/policyClient.ts";

/** Asks whoever stands at the address once, and resolves when that has ended, however it has. */
type Asking = (url: string, host: Host) => Promise<unknown>;

const { signal } = new AbortController();
const identity = { user: "ann", groups: [], roles: [], method: "oidc", realm: "r" } as const;

const clients: readonly (readonly [string, Asking])[] = [
  [
    "the provider of identities",
    async (url, host) => {
      // Beyond the machine it has to be https; what matters here comes before the handshake.
      const issuer = url.replace("http://public", "https://public");
      const oidc = oidcSchema.parse({ issuer, audience: "gateway" });
      await using provider = oidcAuthenticator({ required: true, oidc }, host);
      const [head, body] = [{ alg: "RS256", kid: "a" }, { sub: "ann" }].map((part) =>
        Buffer.from(JSON.stringify(part)).toString("base64url"),
      );
      const token = new Secret(`${head}.${body}.${"A".repeat(342)}`);
      const shown = { kind: "bearer", token, claimedUser: undefined } as const;
      return await provider.authenticate(shown, { frontend: "trinoHttp", address: "127.0.0.1" });
    },
  ],
  [
    "the endpoint that exchanges tokens",
    async (url, host) => {
      const config = {
        type: "tokenExchange",
        tokenEndpoint: url,
        clientId: "gateway",
        clientSecret: "secret",
        subjectTokenType: "urn:ietf:params:oauth:token-type:access_token",
        clientAuth: "post",
        timeoutMs: 5_000,
      } as const;
      await using exchange = tokenExchange("lake", config, host);
      return await exchange.exchange(new Secret("token"), identity, signal);
    },
  ],
  ["the Open Policy Agent", (url, host) => decided("data", "opa", url, host)],
  ["Cerbos", (url, host) => decided("cerbos", "cerbos", url, host)],
  [
    "OpenFGA",
    async (url, host) => {
      const openfga = { url, storeId: "01S" };
      const config = authorizationSchema.parse({ provider: "openfga", openfga });
      if (config.provider !== "openfga") throw new Error("not OpenFGA");
      const lists = allowListAuthorizer({ main: {} }, { groups: [], roles: [] });
      await using authorizer = openFgaAuthorizer(config.openfga, lists, host);
      return await authorizer.mayUse(identity, "main", signal);
    },
  ],
  [
    "the catalog",
    async (url, host) => {
      const icebergRest = { url };
      const config = catalogProviderSchema.parse({ provider: "icebergRest", icebergRest });
      const catalog = openCatalog(config, host, { all: [], of: () => [] });
      const answer = await catalog.table(["lake", "sales", "orders"], signal, "main");
      await catalog[Symbol.asyncDispose]?.();
      return answer;
    },
  ],
  [
    "the service of a guard",
    async (url, host) => {
      const guard = { name: "hook", type: "webhook", url };
      await using service = guardService(guardSchema.parse(guard) as WebhookConfig, host);
      const asked = { guard: "hook", stage: "before", statement: { text: "select 1" } } as const;
      const question = {
        ...asked,
        kind: "select",
        dialect: "trino",
        clusterGroup: "main",
      } as const;
      return await service.ask({ ...question, tags: {}, user: "ann" }, "ann", signal);
    },
  ],
  [
    "the directory",
    async (url, host) => {
      const people = "ou=people,dc=example,dc=org";
      const at = { url: url.replace("http:", "ldap:"), allowCleartext: true };
      const config = ldapSchema.parse({ ...at, userSearchBase: people });
      await using directory = new Directory(config, host);
      return await directory.login("ann", "secret", "here");
    },
  ],
];

let inside: Server;
let leading: Server;
let connections = 0;

beforeAll(async () => {
  inside = await serverOf((_, response) => void response.end("{}"));
  inside.on("connection", (socket) => {
    connections += 1;
    // A directory's client speaks no HTTP, and waits for no answer to it.
    socket.on("error", () => socket.destroy());
  });
  leading = await serverOf((_, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${portOf(inside)}/` }).end();
  });
});
afterAll(() => {
  for (const server of [inside, leading]) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  connections = 0;
});

describe.each(clients)("%s", (_, ask) => {
  const isInside = (address: string) => address === "127.0.0.1" || address === "::1";

  it.each<readonly [string, string, Egress, boolean]>([
    ["its number", "127.0.0.1", egressBy(isInside), false],
    ["its number in another form", "2130706433", egressBy(isInside), false],
    ["a name that means it", "localhost", egressBy(isInside), false],
    [
      "a name that means it when it is connected to",
      "public.example",
      egressBy(isInside, (_host, _options, told) =>
        told(null, [{ address: "127.0.0.1", family: 4 }]),
      ),
      false,
    ],
    ["its number where that is allowed", "127.0.0.1", anyEgress, true],
  ])("is looked for within the network by %s", async (_form, name, egress, isReached) => {
    const host = { ...virtualHost(1), egress };
    await ask(`http://${name}:${portOf(inside)}`, host);
    expect(connections > 0).toBe(isReached);
  });
});

/** A directory has no answers that lead elsewhere but referrals, which fleet and unit tests have. */
const overHttp = clients.filter(([name]) => name !== "the directory");

describe.each(overHttp)("%s", (_, ask) => {
  it("leads nowhere by its answer", async () => {
    const asked = new Promise((resolve) => leading.once("connection", resolve));
    await ask(`http://127.0.0.1:${portOf(leading)}`, { ...virtualHost(1), egress: anyEgress });
    await asked;
    expect(connections).toBe(0);
  });
});

async function decided(
  by: "data" | "cerbos",
  key: "opa" | "cerbos",
  url: string,
  host: Host,
): Promise<unknown> {
  const guided = guidedConfig(by);
  const config = { ...guided, settings: [], [key]: { ...(guided[key] as object), url } };
  const policy = policyOf(accessControlSchema.parse(config), host);
  const table = ["lake", "sales", "orders"];
  const session = sessionOf({ identity });
  const answer = await policy.decide(
    { session, table, action: "select", columns: undefined },
    signal,
  );
  await policy[Symbol.asyncDispose]?.();
  return answer;
}

async function serverOf(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
