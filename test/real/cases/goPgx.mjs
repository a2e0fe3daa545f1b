/**
 * pgx's own test suite, from the Go module proxy: all of its tests but those that the engine's dialect
 * does not allow (`goPgxSkipped.mjs`), so that a test nobody thought of runs.
 *
 * Three spellings are made DuckDB's before it is compiled: rows of generate_series come from FROM, a
 * table that lives as long as its connection is an ordinary one, and `serial` is a sequence.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { command, expectCode } from "../command.mjs";
import { compileGoTests, goModule } from "../goModule.mjs";
import { doesNotApply as skippedTests } from "./goPgxSkipped.mjs";

/** The module with the suite. */
export const driver = "github.com/jackc/pgx/v5@v5.12.0";
const sequence = "pgx_ids";
/** Packages of the suite that talk to a server. */
const suites = { pgx: ".", pgconn: "pgconn" };
let folder;

/** Why a test says nothing about the gateway. */
export const doesNotApply = Object.fromEntries(
  skippedTests.flatMap(({ reason, tests }) => tests.map((test) => [test, reason])),
);

/** PostgreSQL's rows are of int4. */
const rowsOf = (from, to) => `(select i::int4 from generate_series(${from}, ${to}) s(i)) t(n)`;

const spellings = [
  [
    /"select generate_series\(1,\$1\)"/g,
    '"select i::int4 from generate_series(1, 100) t(i) where i <= $1"',
  ],
  [/generate_series\((\d+), ?\$1\) n\b/g, `${rowsOf("$1", "1000")} where n <= $$1`],
  [/generate_series\((\d+), ?(\d+)\) n\b/g, rowsOf("$1", "$2")],
  [/create temp(?:orary)? table/g, "create or replace table"],
  [/\bid serial primary key/gi, `id int primary key default nextval('${sequence}')`],
];

/** True, or why it can not run. Compiles the suite once. */
export async function installGoPgx() {
  const { folder: made, reason } = await goModule(driver);
  if (made === undefined) return reason;
  for (const [name, at] of Object.entries(suites)) {
    await spell(join(made, at));
    const built = await compileGoTests(made, at, `${name}.suite`);
    if (built !== true) return built;
  }
  folder = made;
  return true;
}

async function spell(at) {
  for (const name of await readdir(at)) {
    if (!name.endsWith("_test.go")) continue;
    const text = await readFile(join(at, name), "utf8");
    const spelt = spellings.reduce((so, [from, to]) => so.replaceAll(from, to), text);
    if (spelt !== text) await writeFile(join(at, name), spelt);
  }
}

const connection = (gateway) =>
  `host=127.0.0.1 port=${gateway.ports.postgres} user=alice dbname=memory`;

const each = ([name, at]) => [
  `every test of ${name} that applies`,
  async (gateway) => {
    const database = connection(gateway);
    const sql = `create sequence if not exists ${sequence}`;
    expectCode(await command("psql", ["-X", "-q", "-c", sql, database]));
    const skipped = Object.keys(doesNotApply).join("|");
    const env = { PGX_TEST_DATABASE: database, PGX_TEST_TCP_CONN_STRING: database };
    const args = ["-test.run", "^Test", "-test.skip", `^(${skipped})$`, "-test.parallel", "1"];
    const result = await command(
      join(folder, `${name}.suite`),
      [...args, "-test.timeout", "120s"],
      { env, cwd: join(folder, at), seconds: 130 },
    );
    expectCode({ ...result, stdout: result.stdout.slice(0, 4000) });
  },
];

export const goPgxCases = {
  tool: "goPgx",
  cases: Object.fromEntries(Object.entries(suites).map(each)),
};
