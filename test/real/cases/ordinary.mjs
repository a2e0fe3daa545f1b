/** What `npm test` has no time for: the tests named slow. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Without the simulated fleets with planted bugs and over the functions of the database, which run at night. */
const files = ["packages", "test"]
  .flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" }).map(
      (file) => `${folder}/${file}`,
    ),
  )
  .filter((file) => file.endsWith(".slow.test.ts"))
  .filter((file) => !file.includes("node_modules/") && !file.startsWith("test/sim/"));
/** What failed comes first in what is printed. */
const brief = ["--reporter=dot"];

export const ordinaryCases = {
  tool: "ordinary",
  cases: {
    "tests that take longer than a push may": async () => {
      const vitest = [`${root}node_modules/vitest/vitest.mjs`, "run", "--root", root, ...brief];
      const env = { ...process.env, GATEWAY_SLOW: "1", NO_COLOR: "1" };
      expectCode(await command(process.execPath, [...vitest, ...files], { env, seconds: 1_200 }));
    },
  },
};
