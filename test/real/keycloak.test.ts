/** Clients with tokens of a Keycloak before a Trino that wants others; `npm run test:real` says where both are. */
import { describe, expect, it } from "vitest";
import { askPg, askTrino } from "../e2e/clients.ts";
import { configOf, gatewayOf, type TestGateway } from "../e2e/gateway.ts";

const issuer = process.env["GATEWAY_TEST_KEYCLOAK"] ?? "";
const token = process.env["GATEWAY_TEST_TOKEN"] ?? "";
const caFile = process.env["GATEWAY_TEST_TRINO_CA"] ?? "";
const trino = { engine: "trino", endpoint: process.env["GATEWAY_TEST_TRINO"], tls: { caFile } };
const exchange = {
  type: "tokenExchange",
  tokenEndpoint: `${issuer}/protocol/openid-connect/token`,
  clientId: "gateway",
  clientSecret: "gateway-secret",
  targetAudience: "trino",
};
/** Over a table, so that no frontend answers it itself. */
const sql = "select current_user from tpch.tiny.region limit 1";

function gatewayTo(queryAuth: object): Promise<TestGateway> {
  const oidc = { issuer, audience: "gateway", usernameClaim: "preferred_username" };
  const clusters = { lake: { ...trino, queryAuth } };
  const clusterGroups = { default: { members: ["lake"], maxRunningQueries: 4 } };
  return gatewayOf(configOf({ clusters, clusterGroups, auth: { provider: "oidc", oidc } }));
}

describe("a token of Keycloak", () => {
  it.each([{}, { clientAuth: "basic" }])("is exchanged for one of Trino (%j)", async (more) => {
    await using gateway = await gatewayTo({ ...exchange, ...more });
    const headers = { authorization: `Bearer ${token}` };
    expect(await askPg(gateway, { sql, user: "alice", password: token })).toBe("alice");
    expect(await askTrino(gateway, { sql, user: "alice", headers })).toBe("alice");
  });

  it("is refused by Trino when it is passed on as it is", async () => {
    await using gateway = await gatewayTo({ type: "passthrough" });
    expect(await askPg(gateway, { sql, user: "alice", password: token })).toBe("28000");
  });

  it.each([{ clientSecret: "wrong" }, { targetAudience: "nobody" }])(
    "is nobody where Keycloak refuses (%j)",
    async (more) => {
      await using gateway = await gatewayTo({ ...exchange, ...more });
      expect(await askPg(gateway, { sql, user: "alice", password: token })).toBe("28000");
    },
  );
});
