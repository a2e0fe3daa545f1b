/** TPC-H and TPC-DS: the tables come from DuckDB's own extensions, which the package registry of Python has. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { python } from "./pythonPostgresTool.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export const tpcCases = {
  tool: "tpc",
  cases: {
    "the 22 and the 99 queries over every wire are answered as by the engine": async () => {
      const vitest = [`${root}node_modules/vitest/vitest.mjs`, "run", "--root", root];
      const args = [...vitest, "--config", "vitest.real.config.ts", "test/real/tpc.test.ts"];
      const env = { ...process.env, TPC_PYTHON: python, NO_COLOR: "1" };
      expectCode(await command(process.execPath, args, { env, seconds: 660 }));
    },
  },
};
