/**
 * The servers that suites of clients run on, each with the gateway's cluster before it. Each `open` answers
 * `{server, cluster, env, others, frontend, login, port, database, empty, stop}`, or a `reason`: `others` are further
 * clusters before the same server; `login` is the client's user on the server itself, with its password; `empty`
 * leaves nothing but the schemas it is told, and on a PostgreSQL the extensions.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { driverFolder, installDrivers } from "../real/adbcDrivers.mjs";
import { installMysql, startMysql } from "../real/mysqlServer.mjs";
import { debianPrograms, startPostgres } from "../real/postgresServer.mjs";
import { ask } from "../real/trinoPair.mjs";
import { installTrinoServer, startTrinoServer } from "../real/trinoServer.mjs";

export const postgresPair = {
  name: "postgresql",
  behind: "PostgreSQL, engine `adbc`",
  async open() {
    const drivers = await installDrivers();
    if (drivers !== true) return { reason: drivers };
    const programs = await debianPrograms();
    if (programs.folder === undefined) return programs;
    const { url, port, stop } = await startPostgres(programs.folder, {
      max_prepared_transactions: 10,
      default_text_search_config: "pg_catalog.english",
    });
    const [{ server_version: said }] = await postgres(url, "show server_version");
    return {
      server: `PostgreSQL ${said.split(" ")[0]}`,
      ...postgresClusters(port),
      frontend: "postgresWire",
      login: "gateway",
      port,
      database: "postgres",
      empty: (schemas, extensions) => emptyPostgres(url, schemas, extensions),
      stop,
    };
  },
};

/** By its ADBC driver alone. */
export const postgresDriverPair = {
  name: "postgresqlDriver",
  behind: postgresPair.behind,
  async open() {
    const opened = await postgresPair.open();
    return opened.reason === undefined ? { ...opened, others: [] } : opened;
  },
};

/** By the server's own protocol alone. */
export const postgresRelayedPair = {
  name: "postgresqlRelayed",
  behind: "PostgreSQL, engine `postgresql`",
  async open() {
    const opened = await postgresPair.open();
    if (opened.reason !== undefined) return opened;
    return { ...opened, ...opened.others[0], others: [] };
  },
};

/** The clusters that stand before a PostgreSQL on this port: by its driver, and by its own protocol. */
export function postgresClusters(port) {
  const common = {
    auth: { type: "basic", username: "gateway", password: "any" },
    poolSize: 12,
  };
  const uri = `postgresql://127.0.0.1:${port}/postgres`;
  const own = { engine: "postgresql", hosts: [`127.0.0.1:${port}`], database: "postgres" };
  return {
    cluster: { engine: "adbc", driver: "postgresql", uri, ...common },
    env: { ADBC_DRIVER_PATH: driverFolder },
    others: [
      { behind: "PostgreSQL, engine `postgresql`", cluster: { ...own, ...common }, env: {} },
    ],
  };
}

/** Schemas of earlier runs, of whatever name, go as well. */
async function emptyPostgres(url, schemas, extensions = ["hstore", "citext"]) {
  const own = "nspname !~ '^pg_' and nspname <> 'information_schema'";
  const found = await postgres(url, `select quote_ident(nspname) n from pg_namespace where ${own}`);
  const steps = [
    ...found.map(({ n }) => `drop schema ${n} cascade`),
    ...["public", ...schemas].map((schema) => `create schema ${schema}`),
    ...extensions.map((name) => `create extension if not exists ${name}`),
  ];
  for (const step of steps) await postgres(url, step);
}

async function postgres(connectionString, sql) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const mysqlLogin = { username: "alice", password: "alice-secret" };

/** Before the engine for any server of the family, and before the one for MySQL and MariaDB alone. */
export const mysqlPair = mysqlOver("starRocks", (port) => ({
  endpoint: `mysql://127.0.0.1:${port}`,
}));
export const mysqlRelayedPair = mysqlOver("mysql", (port) => ({ hosts: [`127.0.0.1:${port}`] }));

function mysqlOver(engine, addressOf) {
  return {
    name: engine === "mysql" ? "mysqlRelayed" : "mysql",
    behind: `MySQL, engine \`${engine}\``,
    async open() {
      const installed = await installMysql();
      if (installed !== true) return { reason: installed };
      const { port, stop } = await startWithMore();
      const { username: user, password } = mysqlLogin;
      const login = { host: "127.0.0.1", port, user, password };
      const [{ version }] = await mysql(login, "select version() as version");
      const auth = { type: "basic", ...mysqlLogin };
      return {
        server: `MySQL ${version.split("-")[0]}`,
        cluster: { engine, ...addressOf(port), auth, database: "demo", poolSize: 12 },
        frontend: "mysqlWire",
        login: `${user}:${password}`,
        port,
        database: "demo",
        empty: async (schemas) => {
          for (const schema of ["demo", ...schemas]) {
            await mysql(login, `drop database if exists ${schema}`);
            await mysql(login, `create database ${schema} character set utf8mb4`);
          }
        },
        stop,
      };
    },
  };
}

/** A server runs its init-file whenever it starts. */
async function startWithMore() {
  const folder = await mkdtemp(join(tmpdir(), "gateway-suites-"));
  const file = join(folder, "more.sql");
  const grants = ["test_schema", "test_schema_2", "foo_bar"].map(
    (name) => `GRANT ALL ON ${name}.* TO alice;\n`,
  );
  await writeFile(file, grants.join(""));
  const { port, stop } = await startMysql({ more: [`--init-file=${file}`] });
  const stopAll = async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { port, stop: stopAll };
}

async function mysql(login, sql) {
  const client = await createConnection(login);
  try {
    return (await client.query(sql))[0];
  } finally {
    await client.end();
  }
}

export const trinoPair = trinoOf("memory");
/** With a catalog whose tables can be changed row by row. */
export const trinoLakePair = trinoOf("lake");

function trinoOf(catalog) {
  return {
    name: "trino",
    behind: "Trino, engine `trino`",
    async open() {
      const installed = await installTrinoServer();
      if (installed !== true) return { reason: installed };
      const { url, stop } = await startTrinoServer({ lake: catalog === "lake" });
      const info = await (await fetch(`${url}/v1/info`)).json();
      return {
        server: `Trino ${info.nodeVersion.version}`,
        cluster: { engine: "trino", endpoint: url, catalog, schema: "default" },
        frontend: "trinoHttp",
        login: "alice",
        port: Number(new URL(url).port),
        database: catalog,
        empty: (schemas) => emptyTrino(url, catalog, schemas),
        stop,
      };
    },
  };
}

async function emptyTrino(url, catalog, schemas) {
  const said = async (sql) => {
    const { rows, error } = await ask(url, sql);
    if (error !== undefined) throw new Error(`${sql}: ${error.message}`);
    return JSON.parse(`[${rows}]`);
  };
  const found = await said(`show schemas from ${catalog}`);
  for (const [schema] of found) {
    if (["information_schema", "system"].includes(schema)) continue;
    await said(`drop schema ${catalog}."${schema}" cascade`);
  }
  for (const schema of ["default", ...schemas]) await said(`create schema ${catalog}.${schema}`);
}
