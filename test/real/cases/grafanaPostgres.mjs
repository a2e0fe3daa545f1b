/** Grafana's PostgreSQL data source, on a PostgreSQL and through the gateway before it. */
import pg from "pg";
import { driverFolder, installDrivers } from "../adbcDrivers.mjs";
import { expectText } from "../command.mjs";
import { startBefore } from "../configuredGateway.mjs";
import { postgresTables } from "../grafanaStatements.mjs";
import { debianPrograms, startPostgres } from "../postgresServer.mjs";
import { differencesOfGrafanaPostgres, installGrafana } from "./grafana.mjs";

/** True, or why it can not run. */
export async function installGrafanaPostgres() {
  const drivers = await installDrivers();
  if (drivers !== true) return drivers;
  return (await debianPrograms()).reason ?? (await installGrafana());
}

async function prepared(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const sql of postgresTables) await client.query(sql);
  } finally {
    await client.end();
  }
}

export const grafanaPostgresCases = {
  tool: "grafanaPostgres",
  behind: "PostgreSQL",
  cases: {
    "Grafana's PostgreSQL data source is answered the same, but for what has a reason":
      async () => {
        const { folder } = await debianPrograms();
        const server = await startPostgres(folder);
        let gateway;
        try {
          await prepared(server.url);
          const uri = `postgresql://127.0.0.1:${server.port}/postgres`;
          const auth = { type: "basic", username: "gateway", password: "any" };
          const cluster = { engine: "adbc", driver: "postgresql", uri, auth, poolSize: 4 };
          gateway = await startBefore(cluster, { ADBC_DRIVER_PATH: driverFolder });
          const [direct, through] = [server.port, gateway.ports.postgresWire].map((port) => ({
            port,
            user: "gateway",
            database: "postgres",
          }));
          expectText(await differencesOfGrafanaPostgres(direct, through), "");
        } finally {
          await gateway?.stop();
          await server.stop();
        }
      },
  },
};
