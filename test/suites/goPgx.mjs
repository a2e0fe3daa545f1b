/** pgx's suite, every package of it that talks to a server, on a PostgreSQL, direct and through. */
import { join } from "node:path";
import pg from "pg";
import { installDrivers } from "../real/adbcDrivers.mjs";
import { driver } from "../real/cases/goPgx.mjs";
import { compileGoTests, goModule } from "../real/goModule.mjs";
import { debianPrograms, startPostgres } from "../real/postgresServer.mjs";
import { goTests } from "./goTests.mjs";
import { postgresClusters } from "./servers.mjs";

const packages = {
  pgx: ".",
  pgconn: "pgconn",
  pgtype: "pgtype",
  pgxpool: "pgxpool",
  stdlib: "stdlib",
};

export const goPgx = {
  suite: "pgx",
  version: driver.split("@v")[1],
  behind: "PostgreSQL, engine `adbc`",
  leftOut: {},
  async open() {
    const drivers = await installDrivers();
    if (drivers !== true) return { reason: drivers };
    const programs = await debianPrograms();
    if (programs.folder === undefined) return programs;
    const { folder, reason } = await goModule(driver);
    if (folder === undefined) return { reason };
    for (const [name, at] of Object.entries(packages)) {
      const built = await compileGoTests(folder, at, `${name}.suite`);
      if (built !== true) return { reason: built };
    }
    const server = await startPostgres(programs.folder);
    return {
      server: await prepared(server.url),
      ...postgresClusters(server.port),
      direct: () => tests(folder, server.port, "gateway"),
      through: ({ postgresWire }) => tests(folder, postgresWire, "alice"),
      stop: server.stop,
    };
  },
};

/** All packages' tests, each under its package's name. */
async function tests(folder, port, user) {
  const database = `host=127.0.0.1 port=${port} user=${user} dbname=postgres sslmode=disable`;
  const env = { PGX_TEST_DATABASE: database, PGX_TEST_TCP_CONN_STRING: database };
  const all = new Map();
  for (const [name, at] of Object.entries(packages)) {
    const ended = await goTests(join(folder, `${name}.suite`), { cwd: join(folder, at), env });
    for (const [test, result] of ended) all.set(`${name}.${test}`, result);
  }
  return all;
}

/** What the suite's authors have on their server. */
async function prepared(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query("create domain uint64 as numeric(20,0)");
  for (const name of ["hstore", "ltree"]) {
    await client.query(`create extension if not exists ${name}`).catch(() => undefined);
  }
  const { rows } = await client.query("show server_version");
  await client.end();
  return `PostgreSQL ${rows[0].server_version.split(" ")[0]}`;
}
