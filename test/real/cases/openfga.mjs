/** Cluster groups by OpenFGA, built from the Go module proxy. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { installOpenFga, openFgaKey, startOpenFga } from "../openfgaServer.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export const openFgaTool = () => installOpenFga();

export const openFgaCases = {
  tool: "openFga",
  behind: "none",
  cases: {
    "readers, groups, models, keys, and a server that is slow or gone": async () => {
      const server = await startOpenFga();
      // One more, for the test that kills it.
      const doomed = await startOpenFga();
      try {
        const vitest = `${root}node_modules/vitest/vitest.mjs`;
        const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
        const env = {
          GATEWAY_TEST_OPENFGA: server.url,
          GATEWAY_TEST_OPENFGA_PID: `${server.pid}`,
          GATEWAY_TEST_OPENFGA_DOOMED: doomed.url,
          GATEWAY_TEST_OPENFGA_DOOMED_PID: `${doomed.pid}`,
          GATEWAY_TEST_OPENFGA_KEY: openFgaKey,
          NO_COLOR: "1",
        };
        const file = "test/real/openfga.test.ts";
        expectCode(await command(process.execPath, [vitest, ...args, file], { env, seconds: 120 }));
      } finally {
        await server.stop();
        await doomed.stop();
      }
    },
  },
};
