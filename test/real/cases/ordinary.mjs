/** What `npm test` has no time for: the tests named slow. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** What failed comes first in what is printed. */
const brief = ["--reporter=dot"];

export const ordinaryCases = {
  tool: "ordinary",
  cases: {
    "tests that take longer than a push may": async () => {
      const vitest = [`${root}node_modules/vitest/vitest.mjs`, "run", "--root", root, ...brief];
      const env = { ...process.env, GATEWAY_SLOW: "1", NO_COLOR: "1" };
      expectCode(
        await command(process.execPath, [...vitest, ".slow.test.ts"], { env, seconds: 1_200 }),
      );
    },
  },
};
