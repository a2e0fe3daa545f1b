/** A real Trino with logins and rules: whom it sees under each mode, and whom it refuses. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { startTrinoServer } from "../trinoServer.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export const trinoIdentityCases = {
  tool: "trinoServer",
  behind: "Trino",
  cases: {
    "each identity mode, its refusals, and hostile names": async () => {
      const server = await startTrinoServer({ logins: true });
      try {
        const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
        const test = "test/real/trinoIdentity.test.ts";
        const vitest = [`${root}node_modules/vitest/vitest.mjs`, ...args, test];
        const env = {
          GATEWAY_TEST_TRINO: server.url,
          GATEWAY_TEST_TRINO_CA: server.caFile,
          GATEWAY_TEST_TRINO_KEY: server.tokenKey,
          NO_COLOR: "1",
        };
        expectCode(await command(process.execPath, vitest, { env, seconds: 300 }));
      } finally {
        await server.stop();
      }
    },
  },
};
