/** The StarRocks engine on MariaDB, which stands in its place. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { installMariadb, startMariadb } from "../mariadbServer.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export const starRocksTool = () => installMariadb();

export const starRocksCases = {
  tool: "starRocks",
  cases: {
    "the contract, types, TLS, cancels and clients on MariaDB": async () => {
      const server = await startMariadb();
      try {
        const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
        const vitest = [
          `${root}node_modules/vitest/vitest.mjs`,
          ...args,
          "test/real/starRocks.test.ts",
        ];
        const env = {
          GATEWAY_TEST_MARIADB: `${server.port}`,
          GATEWAY_TEST_MARIADB_CA: server.caFile,
          NO_COLOR: "1",
        };
        expectCode(await command(process.execPath, vitest, { env, seconds: 300 }));
      } finally {
        await server.stop();
      }
    },
  },
};
