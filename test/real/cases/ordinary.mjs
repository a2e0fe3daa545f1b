/** What `npm test` has no time for: the tests named slow. */
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
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
/** They compare how long something takes with how long it took before, so nothing else may begin beside them. */
const compare = [
  "test/abuse/besideLongTexts.slow.test.ts",
  "test/abuse/oneUserAgainstAll.slow.test.ts",
  "packages/engines/src/duckDb/crash.slow.test.ts",
];
const gone = compare.filter((file) => !files.includes(file));
if (gone.length > 0) throw new Error(`no longer among the slow tests: ${gone.join(", ")}`);
/** Half of what the others do is waiting, for processes and for time limits. */
const more = `--maxWorkers=${availableParallelism() + 1}`;

export const ordinaryCases = {
  tool: "ordinary",
  cases: {
    "tests that take longer than a push may": () =>
      tested([more, ...files.filter((file) => !compare.includes(file))]),
  },
};

export const comparingCases = {
  tool: "ordinary",
  cases: {
    "those of them that compare times": () => tested(["--maxWorkers=1", ...compare]),
  },
};

async function tested(args) {
  // What failed comes first in what is printed.
  const vitest = ["run", "--root", root, "--reporter=dot", ...args];
  const env = { ...process.env, GATEWAY_SLOW: "1", NO_COLOR: "1" };
  const program = `${root}node_modules/vitest/vitest.mjs`;
  expectCode(await command(process.execPath, [program, ...vitest], { env, seconds: 1_200 }));
}
