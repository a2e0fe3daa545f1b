/** Clients of Flight SQL in other languages, each before a gateway over an embedded DuckDB. */
import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { driverFolder, installDrivers } from "../adbcDrivers.mjs";
import { command, expectCode } from "../command.mjs";
import { debianPrograms, startPostgres } from "../postgresServer.mjs";
import { bringJar, jarOf } from "./maven.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const folder = join(cache, "python-flight");
const python = join(folder, "bin", "python");
const packages = [
  "pyarrow==26.0.1",
  "adbc-driver-flightsql==1.13.0",
  "adbc-driver-manager==1.13.0",
];
/** Says which packages were brought, so that a new one is brought into an old cache. */
const marker = join(folder, "complete");

const jdbc = { group: "org.apache.arrow", name: "flight-sql-jdbc-driver", version: "18.3.0" };

/** The tools of these cases: true, or the reason why they are skipped. */
export async function flightTools() {
  const flightPython = await installFlightPython();
  const needed = [flightPython, (await debianPrograms()).reason ?? true, await installDrivers()];
  return {
    flightPython,
    flightIngest: needed.find((one) => one !== true) ?? true,
    flightJdbc: await bringJar(jdbc.group, jdbc.name, jdbc.version),
  };
}

export const flightCases = [
  {
    tool: "flightPython",
    cases: {
      "pyarrow and the ADBC driver: types, parameters, tables, transactions, cancelling": () =>
        tested("flightPython", { GATEWAY_TEST_PYTHON: python }),
    },
  },
  {
    tool: "flightIngest",
    cases: {
      "the ADBC driver: rows in bulk into PostgreSQL": async () => {
        const { folder: programs } = await debianPrograms();
        const server = await startPostgres(programs);
        try {
          await tested("flightIngest", {
            GATEWAY_TEST_PYTHON: python,
            GATEWAY_TEST_POSTGRES: server.url,
            GATEWAY_TEST_ADBC: driverFolder,
          });
        } finally {
          await server.stop();
        }
      },
    },
  },
  {
    tool: "flightJdbc",
    cases: {
      "the JDBC driver: types, parameters, metadata, errors, cancelling": () =>
        tested("flightJdbc", { GATEWAY_TEST_FLIGHT_JDBC: jarOf(jdbc.name, jdbc.version) }),
    },
  },
];

/** Brings the Python with the clients; true, or the reason why it can not be had. */
export async function installFlightPython() {
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

async function tested(test, env) {
  const vitest = [`${root}node_modules/vitest/vitest.mjs`, "run", "--root", root];
  const args = [...vitest, "--config", "vitest.real.config.ts", `test/real/${test}.test.ts`];
  const options = { env: { ...env, NO_COLOR: "1" }, seconds: 300 };
  expectCode(await command(process.execPath, args, options));
}
