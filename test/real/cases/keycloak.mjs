/** Tokens of a Keycloak, exchanged for those that a real Trino takes. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { installKeycloak, startKeycloak } from "../keycloakServer.mjs";
import { installTrinoServer, startTrinoServer } from "../trinoServer.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** True, or the reason why one of the two can not be had. */
export async function keycloakTool() {
  const trino = await installTrinoServer();
  return trino === true ? await installKeycloak() : trino;
}

export const keycloakCases = {
  tool: "keycloak",
  behind: "Trino",
  cases: {
    "its tokens are exchanged for those of Trino": async () => {
      const keycloak = await startKeycloak();
      const { issuer } = keycloak;
      const keys = `${issuer}/protocol/openid-connect/certs`;
      try {
        const trino = await startTrinoServer({ logins: true, provider: { issuer, keys } });
        try {
          await suite(keycloak, trino);
        } finally {
          await trino.stop();
        }
      } finally {
        await keycloak.stop();
      }
    },
  },
};

async function suite({ issuer, tokenOf }, { url, caFile }) {
  const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
  const test = "test/real/keycloak.test.ts";
  const env = {
    GATEWAY_TEST_KEYCLOAK: issuer,
    GATEWAY_TEST_TOKEN: await tokenOf("alice"),
    GATEWAY_TEST_TRINO: url,
    GATEWAY_TEST_TRINO_CA: caFile,
    NO_COLOR: "1",
  };
  const vitest = `${root}node_modules/vitest/vitest.mjs`;
  expectCode(await command(process.execPath, [vitest, ...args, test], { env, seconds: 120 }));
}
