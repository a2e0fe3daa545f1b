/** PostgreSQL over its own protocol: the engine's contract, statements by chance, and its clients, each on a real server. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { debianPrograms, startPostgres } from "../postgresServer.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export const postgresqlCases = {
  tool: "postgresql",
  behind: "PostgreSQL",
  cases: {
    "PostgreSQL over its own protocol": async () => {
      const { folder } = await debianPrograms();
      const server = await startPostgres(folder, { max_prepared_transactions: 10 });
      try {
        const tests = [
          "postgresql",
          "postgresqlClients",
          "postgresqlBulk",
          "postgresqlSessions",
          "postgresqlChains",
          "postgresqlPromises",
          "postgresqlHandOver",
          "postgresSame",
          "postgresMessages",
          "postgresqlDescribed",
          "postgresqlModes",
          "postgresqlIdle",
          "postgresqlLogins",
          "postgresqlOverdue",
          "postgresqlPrepared",
          "postgresqlPreparedPolicies",
          "postgresqlSeries",
          "postgresqlCharsets",
          "postgresqlEncodings",
          "postgresqlLongTexts",
          "postgresqlSignals",
          "postgresqlSlots",
          "postgresqlStatuses",
        ];
        await tested(tests, { GATEWAY_TEST_POSTGRES: server.url, SAME_ENGINE: "postgresql" });
      } finally {
        await server.stop();
      }
      const few = { max_connections: 8, superuser_reserved_connections: 3 };
      const full = await startPostgres(folder, few);
      try {
        await tested(["postgresqlFull"], { GATEWAY_TEST_POSTGRES_FULL: full.url });
      } finally {
        await full.stop();
      }
    },
  },
};

/** One after the other in one process, which reads the gateway's sources once. */
async function tested(tests, env) {
  const vitest = [`${root}node_modules/vitest/vitest.mjs`, "run"];
  const args = [...vitest, "--root", root, "--config", "vitest.real.config.ts"];
  const files = tests.map((test) => `test/real/${test}.test.ts`);
  const result = await command(process.execPath, [...args, ...files], {
    env: { ...env, NO_COLOR: "1" },
    seconds: process.env["GATEWAY_NIGHTLY"] === "1" ? 10_800 : 600,
  });
  expectCode(result);
}
