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
        await tested("clickHouse", { GATEWAY_TEST_CLICKHOUSE: server.url }, 300);
        const auth = { type: "basic", username: "gateway", password: "gateway-secret" };
        const cluster = { engine: "clickHouse", endpoint: server.url, auth, database: "default" };
        const place = { cluster, schema: "default", stored: "ENGINE = MergeTree ORDER BY id" };
        await tested("engineCatalog", { GATEWAY_TEST_CATALOG: JSON.stringify(place) }, 600);
      } finally {
        await server.stop();
      }
    },
    "a policy's masks and filters, by queries of chance in two databases": async () => {
      const pair = await Promise.all([startClickHouse(cache), startClickHouse(cache)]);
      const urls = pair.map(({ url }) => url).join(" ");
      try {
        await tested("clickHouseMasked", { GATEWAY_TEST_CLICKHOUSE_PAIR: urls }, 7_200);
      } finally {
        await Promise.all(pair.map((server) => server.stop()));
      }
    },
  },
};

async function tested(name, more, seconds) {
  const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
  const vitest = [`${root}node_modules/vitest/vitest.mjs`, ...args, `test/real/${name}.test.ts`];
  const env = { ...more, NO_COLOR: "1" };
  const ran = await command(process.execPath, vitest, { env, seconds });
  // How far it came is said by it, at night.
  const said = ran.stdout?.match(/^\d+ queries on .*$/gm) ?? [];
  for (const line of said.slice(-1)) console.log(`ok       ${line}`);
  expectCode(ran);
}
