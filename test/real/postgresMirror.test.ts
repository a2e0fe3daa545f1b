/**
 * What tools browse by, asked of a PostgreSQL server and through the gateway in front of it: every difference is
 * listed here, with its reason.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { driverFolder } from "./adbcHost.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const metadataProgram = fileURLToPath(new URL("cases/pgjdbcMetadata.java", import.meta.url));
const jar = process.env["GATEWAY_TEST_PGJDBC"] ?? "";
const python = process.env["GATEWAY_TEST_PYTHON"] ?? "";

const tables = `
create schema shown;
create table shown.customer (id int primary key, name varchar(30) not null, email text unique,
  constraint customer_named unique (name, id));
create table shown.sale (id bigint, line smallint, customer int not null references shown.customer, price numeric(12,2),
  at timestamptz, day date, tags text[], note char(4), flag boolean, raw bytea, doc jsonb, token uuid, ratio real,
  constraint sale_key primary key (id, line));
create index sale_by_day on shown.sale (day, at);
create unique index sale_token on shown.sale (token);
create table shown.counted as select i from generate_series(1, 1000) i;
analyze shown.counted;
create view shown.shown_view as select id, name from shown.customer;`;

let direct: URL;
/** Who answers about catalogs: the mirror, and by default the server itself. */
const answering = ["mirror", "auto"] as const;
type Answering = (typeof answering)[number];
const gateways = new Map<Answering, TestGateway>();

beforeAll(async () => {
  direct = await emptyDatabase("mirrored");
  const client = new pg.Client({ connectionString: direct.href });
  await client.connect();
  await client.query(tables);
  await client.end();
  const driver = join(driverFolder, "libadbc_driver_postgresql.so");
  const uri = `postgresql://${direct.host}${direct.pathname}`;
  const auth = { type: "basic", username: direct.username, password: "none" };
  const local = { engine: "adbc", driver, uri, auth, poolSize: 3 };
  const place = { host: "127.0.0.1", port: 0 };
  for (const catalog of answering) {
    const frontends = { postgresWire: { ...place, catalog } };
    const own = { frontends, adminApi: place, persistence: { type: "inMemory" } };
    gateways.set(catalog, await gatewayOf(configOf({ gateway: own, clusters: { local } })));
  }
});
afterAll(async () => {
  for (const gateway of gateways.values()) await gateway[Symbol.asyncDispose]();
});

function through(catalog: Answering): URL {
  const gateway = gateways.get(catalog);
  if (gateway === undefined) throw new Error(`no gateway whose catalogs are by ${catalog}`);
  const url = new URL(direct);
  url.port = `${portOf(gateway, "postgresWire")}`;
  return url;
}

/** What a program prints of the server, and of the gateway. */
async function bothWays(
  run: (url: URL) => Promise<string>,
  catalog: Answering = "mirror",
): Promise<{ readonly direct: readonly string[]; readonly through: readonly string[] }> {
  const [own, ours] = [await run(direct), await run(through(catalog))];
  return { direct: own.trim().split("\n"), through: ours.trim().split("\n") };
}

describe.each(answering)("psql, catalogs by %s", (catalog) => {
  const shown = async (url: URL, order: string): Promise<string> =>
    printed("psql", ["-X", "-c", order, url.href]);

  it.each([
    "\\d shown.customer",
    "\\d shown.sale",
    "\\d shown.shown_view",
    "\\dt shown.*",
    "\\di shown.*",
  ])("shows the same by %s", async (order) => {
    const found = await bothWays((url) => shown(url, order), catalog);
    expect(plain(found.through)).toEqual(plain(found.direct));
  });
});

const estimates = "select reltuples::int4, relpages from pg_class where relname = 'counted'";
/** PostgreSQL's own words for a table that nobody counted yet, which is how the mirror has them. */
const unknown = [{ reltuples: -1, relpages: 0 }];

describe.each(answering)("sizes, activity and locks, catalogs by %s", (catalog) => {
  it.each([
    "select pg_relation_size('shown.sale')",
    "select pg_total_relation_size('shown.customer'::regclass)",
    "select pg_table_size('shown.customer') > 0, pg_database_size(current_database()) > 0",
    estimates,
    "select n_live_tup from pg_stat_user_tables where relname = 'counted'",
    "select count(*) from pg_stat_activity where query like 'lock table shown.counted%'",
    "select mode from pg_locks where relation = 'shown.counted'::regclass",
    "select pg_is_in_recovery(), pg_postmaster_start_time() < now()",
  ])("are the server's, or refused: %s", async (sql) => {
    const holder = new pg.Client({ connectionString: direct.href });
    await holder.connect();
    await holder.query("begin");
    await holder.query("lock table shown.counted in share mode");
    const own = await answered(direct, sql);
    const ours = await answered(through(catalog), sql);
    await holder.end();
    const known = catalog === "mirror" && sql === estimates ? { rows: unknown } : own;
    expect("code" in ours ? ours : known).toEqual("code" in ours ? { code: "0A000" } : ours);
    expect(own).not.toHaveProperty("code");
  });
});

async function answered(url: URL, sql: string): Promise<{ rows: unknown } | { code: unknown }> {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    return { rows: (await client.query(sql)).rows };
  } catch (error) {
    return { code: (error as pg.DatabaseError).code };
  } finally {
    await client.end();
  }
}

async function printed(program: string, args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(program, args, { timeout: 60_000 })).stdout;
}

/** Without owners, because all in the mirror is the client's, and schemas, all of which stand in its path. */
function plain(lines: readonly string[]): readonly string[] {
  return lines.map((line) =>
    line
      .replaceAll(/\s*\|\s*\w+\s*$/g, "")
      .replaceAll(/-+\+-+$|\s+/g, " ")
      .replaceAll(/\bshown\.(?=customer\(|sale" C)/g, "")
      .replaceAll('"shown.', '"'),
  );
}

/** What differs, and why. */
const reasons = [
  ["the mirror is a newer PostgreSQL, with more keywords", /^keywords: /],
  ["the mirror is a newer PostgreSQL, with more views of its own", /^type: TYPE_NAME=_pg_/],
  ["the driver brings these as text", /^result column: (?:price|note) (?:numeric|bpchar|text)$/],
  ["one type stands for both in every engine", /^result column: doc jsonb?$/],
] as const;

describe.skipIf(!existsSync(jar))("pgjdbc", () => {
  it("has the same metadata, but for what is said here", async () => {
    const run = async (url: URL): Promise<string> => {
      const jdbc = `jdbc:postgresql://${url.host}${url.pathname}?user=${url.username}&sslmode=disable`;
      const args = ["-cp", jar, metadataProgram, jdbc, "shown"];
      return await printed("java", args);
    };
    const found = await bothWays(run);
    const own = new Set(found.direct);
    const ours = new Set(found.through);
    const other = [
      ...found.direct.filter((line) => !ours.has(line)),
      ...found.through.filter((line) => !own.has(line)),
    ];
    const told = (line: string): boolean => reasons.some(([, pattern]) => pattern.test(line));
    expect(other.filter((line) => !told(line))).toEqual([]);
    expect(reasons.filter(([, pattern]) => !other.some((line) => pattern.test(line)))).toEqual([]);
    expect(found.direct.length).toBeGreaterThan(100);
  });
});

describe.skipIf(!existsSync(python)).each(answering)("SQLAlchemy, catalogs by %s", (catalog) => {
  it.each(["psycopg", "psycopg2"])("reflects the same by %s", async (driver) => {
    const run = async (url: URL): Promise<string> => {
      const dsn = `postgresql+${driver}://${url.username}@${url.host}${url.pathname}`;
      return await printed(python, ["-c", reflection, dsn]);
    };
    const found = await bothWays(run, catalog);
    expect(found.through).toEqual(found.direct);
  });
});

const reflection = `
import sys, sqlalchemy as sa
i = sa.inspect(sa.create_engine(sys.argv[1]))
print(sorted(i.get_table_names("shown")), sorted(i.get_view_names("shown")))
for t in ["customer", "sale", "shown_view"]:
    for c in i.get_columns(t, "shown"):
        print(t, c["name"], c["type"], c["nullable"], c["default"])
    print(t, i.get_pk_constraint(t, "shown"))
    print(t, i.get_foreign_keys(t, "shown"))
    print(t, sorted(map(str, i.get_unique_constraints(t, "shown"))))
    print(t, sorted(map(str, i.get_indexes(t, "shown"))))
`;
