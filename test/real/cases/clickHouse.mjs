/** The ClickHouse engine on the real parser, functions and formats. */
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installClickHouse, startClickHouse } from "../clickHouseServer.mjs";
import { command, expectCode } from "../command.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");

export const clickHouseTool = () => installClickHouse(cache);

export const clickHouseCases = {
  tool: "clickHouse",
  behind: "ClickHouse",
  cases: {
    "types, parameters, errors and clients through the gateway": async () => {
      const server = await startClickHouse(cache);
      try {
        const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
        const test = "test/real/clickHouse.test.ts";
        const vitest = [`${root}node_modules/vitest/vitest.mjs`, ...args, test];
        const env = { GATEWAY_TEST_CLICKHOUSE: server.url, NO_COLOR: "1" };
        expectCode(await command(process.execPath, vitest, { env, seconds: 300 }));
      } finally {
        await server.stop();
      }
    },
  },
};
