/** Databases behind their real ADBC drivers: PostgreSQL, SQLite, Snowflake's driver on an emulator, Flight SQL. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { driverFolder, installDrivers } from "../adbcDrivers.mjs";
import { command, expectCode } from "../command.mjs";
import { installFakesnow, startFakesnow } from "../fakesnow.mjs";
import { compileRecording, recordingTool } from "../recordingDriver.mjs";
import { debianPrograms, startPostgres } from "../postgresServer.mjs";
import { pgjdbcJar } from "./pgjdbc.mjs";
import { python } from "./pythonPostgresTool.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const flightModule =
  "github.com/apache/arrow-go/v18/arrow/flight/flightsql/example/cmd/sqlite_flightsql_server";
const flightServer = join(cache, "sqlite_flightsql_server");

/** The tools of these cases: true, or the reason why they are skipped. */
export async function adbcTools() {
  const drivers = await installDrivers();
  const adbcRecording = await recordingTool();
  if (drivers !== true) {
    const missing = { adbc: drivers, adbcPostgres: drivers, adbcSnowflake: drivers };
    return { ...missing, adbcFlight: drivers, adbcRecording };
  }
  return {
    adbc: true,
    adbcRecording,
    adbcPostgres: (await debianPrograms()).reason ?? true,
    adbcSnowflake: await installFakesnow(),
    adbcFlight: await installFlight(),
  };
}

export const adbcCases = [
  {
    tool: "adbc",
    behind: "SQLite",
    cases: { "SQLite through its driver": () => tested(["adbcSqlite"], {}) },
  },
  {
    tool: "adbcRecording",
    behind: "a driver made for the test",
    cases: {
      "a driver that writes down whose login it is given": async () => {
        const { folder, stop } = await compileRecording();
        try {
          await tested(["adbcRecording"], { GATEWAY_TEST_RECORDING: folder });
          await tested(["adbcClients"], { GATEWAY_TEST_RECORDING: folder });
        } finally {
          await stop();
        }
      },
    },
  },
  {
    tool: "adbcPostgres",
    behind: "PostgreSQL",
    cases: {
      "PostgreSQL through its driver, in a process": async () => {
        const { folder } = await debianPrograms();
        const server = await startPostgres(folder);
        try {
          const tests = [
            "adbcPostgres",
            "adbcPostgresSessions",
            "adbcPostgresTypes",
            "postgresSame",
            "postgresMirror",
          ];
          await tested(tests, {
            GATEWAY_TEST_POSTGRES: server.url,
            GATEWAY_TEST_PGJDBC: pgjdbcJar,
            GATEWAY_TEST_PYTHON: python,
          });
        } finally {
          await server.stop();
        }
      },
    },
  },
  {
    tool: "adbcSnowflake",
    behind: "an emulator of Snowflake",
    cases: {
      "Snowflake's driver on an emulator of its service": async () => {
        const { url, keyFile, stop } = await startFakesnow();
        const env = { GATEWAY_TEST_SNOWFLAKE: url, GATEWAY_TEST_SNOWFLAKE_KEY: keyFile };
        try {
          await tested(["adbcSnowflake"], env);
          await tested(["snowflakeCallers"], env);
        } finally {
          await stop();
        }
      },
    },
  },
  {
    tool: "adbcFlight",
    behind: "a Flight SQL server",
    cases: {
      "Flight SQL's driver on the reference server": async () => {
        const { uri, stop } = await startFlight();
        try {
          await tested(["adbcFlight"], { GATEWAY_TEST_FLIGHT: uri });
        } finally {
          stop();
        }
      },
    },
  },
];

/** One file after the other in one process, which reads the gateway's sources once. */
async function tested(tests, env) {
  const vitest = [`${root}node_modules/vitest/vitest.mjs`, "run"];
  const args = [...vitest, "--root", root, "--config", "vitest.real.config.ts"];
  const files = tests.map((test) => `test/real/${test}.test.ts`);
  const result = await command(process.execPath, [...args, ...files], {
    env: { ...env, GATEWAY_TEST_ADBC: driverFolder, NO_COLOR: "1" },
    seconds: process.env["GATEWAY_NIGHTLY"] === "1" ? 10_800 : 600,
  });
  expectCode(result);
}

/** Builds the reference server of Flight SQL once; true, or the reason why it can not be had. */
export async function installFlight() {
  if (existsSync(flightServer)) return true;
  if ((await command("go", ["version"])).code !== 0) return "there is no go";
  const env = { GOBIN: cache };
  const built = await command("go", ["install", `${flightModule}@v18.8.0`], { env, seconds: 400 });
  return built.code === 0 || "go install of the Flight SQL server failed";
}

async function startFlight() {
  const port = await freePort();
  const child = spawn(flightServer, ["-host", "127.0.0.1", "-port", `${port}`], {
    stdio: "ignore",
  });
  for (let waited = 0; waited < 100 && !(await answers(port)); waited += 1) await pause(100);
  return { uri: `grpc://127.0.0.1:${port}`, stop: () => child.kill("SIGKILL") };
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
