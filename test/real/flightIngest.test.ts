/** Bulk ingestion of ADBC's Flight SQL driver into a real PostgreSQL, over its own protocol and over its ADBC driver. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { configOf, gatewayOf } from "../e2e/gateway.ts";
import { driverFolder } from "./adbcHost.ts";
import { flightPort, ran } from "./flightClients.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const python = process.env["GATEWAY_TEST_PYTHON"] ?? "";
const program = fileURLToPath(new URL("cases/flightIngest.py", import.meta.url));
const loopback = { host: "127.0.0.1", port: 0 };

describe("ADBC's bulk ingestion into PostgreSQL", () => {
  it.each(["postgresql", "adbc"] as const)(
    "takes all rows or none, with their types, over the engine %s",
    async (engine) => {
      const cluster = await clusterOf(engine);
      const gateway = {
        frontends: { flightSql: loopback },
        adminApi: loopback,
        persistence: { type: "inMemory" },
      };
      await using running = await gatewayOf(configOf({ gateway, clusters: { local: cluster } }));
      const args = [program, `grpc://127.0.0.1:${flightPort(running)}`];
      expect((await ran(running, python, args, false)).lines).toEqual([
        "ingested [3, 3, 3] 9 12 3 -5.25 6 x 6 -2.25 2024-02-29 000001 000001",
        "bigint,smallint,double precision,boolean,text,bytea,numeric,date,timestamp without time zone,timestamp with time zone",
        "a table that is there is refused",
        "nanoseconds are refused True",
        "tables left 0",
        "many 20000 199990000",
      ]);
    },
  );
});

async function clusterOf(engine: "postgresql" | "adbc"): Promise<object> {
  const { host, pathname, username } = await emptyDatabase(`ingest_${engine}`);
  const auth = { type: "basic", username, password: "none" };
  if (engine === "postgresql") return { engine, auth, hosts: [host], database: pathname.slice(1) };
  const driver = join(driverFolder, "libadbc_driver_postgresql.so");
  return { engine, auth, driver, uri: `postgresql://${host}${pathname}` };
}
