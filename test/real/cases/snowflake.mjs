/** Snowflake's own client for Python with its SQLAlchemy dialect, before a gateway over an embedded DuckDB. */
import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const folder = join(cache, "python-snowflake");
const python = join(folder, "bin", "python");
/** The dialect takes no connector of a later major version and no later SQLAlchemy; the connector no pyarrow without pandas. */
const packages = [
  "snowflake-connector-python==4.8.1",
  "snowflake-sqlalchemy==1.11.1",
  "sqlalchemy==2.0.58",
  "pyarrow==26.0.1",
  "pandas==3.1.1",
];
/** Says which packages were brought, so that a new one is brought into an old cache. */
const marker = join(folder, "complete");

/** True when the client is there, or the reason why not. */
export async function snowflakePythonTool() {
  const wanted = packages.join("\n");
  if ((await readFile(marker, "utf8").catch(() => "")) === wanted) return true;
  const made = await command("python3", ["-m", "venv", folder], { seconds: 120 });
  if (made.code !== 0) return "there is no python3 with venv";
  const args = ["-m", "pip", "install", "-q", ...packages];
  const installed = await command(python, args, { seconds: 240 });
  if (installed.code !== 0) return `pip failed: ${installed.stderr.trim().split("\n").at(-1)}`;
  await writeFile(marker, wanted);
  return true;
}

export const snowflakeCases = {
  tool: "snowflakePython",
  cases: {
    "snowflake-connector-python and SQLAlchemy: logins, types as Arrow and JSON, binds, transactions, asynchronous queries, cancelling":
      async () => {
        const vitest = [`${root}node_modules/vitest/vitest.mjs`, "run", "--root", root];
        const test = "test/real/snowflakePython.test.ts";
        const args = [...vitest, "--config", "vitest.real.config.ts", test];
        const env = { GATEWAY_TEST_PYTHON: python, NO_COLOR: "1" };
        expectCode(await command(process.execPath, args, { env, seconds: 300 }));
      },
  },
};
