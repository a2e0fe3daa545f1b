/**
 * dbt on PostgreSQL and on Trino: one project seeded, built twice, tested, kept in history and documented, direct and
 * through. What it made is compared as well: rows of each relation, and what its documentation says of them.
 */
import { cp, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { command } from "../real/command.mjs";
import { projects, pythonFolder, pythonWith } from "./pythonTests.mjs";
import { postgresPair, trinoLakePair } from "./servers.mjs";

/** The newest whose dependencies the registries have. */
const version = "1.11.16";
const name = `dbt-${version}`;
const packages = [`dbt-core==${version}`, "dbt-postgres==1.11.0", "dbt-trino==1.11.0"];
const stepSeconds = 300;

/** Each step, and what `dbt` is told. */
const steps = {
  debug: ["debug"],
  seed: ["seed"],
  "first run": ["run", "--vars", "round: 1"],
  "first snapshot": ["snapshot", "--vars", "round: 1"],
  "second run": ["run", "--vars", "round: 2"],
  "second snapshot": ["snapshot", "--vars", "round: 2"],
  test: ["test", "--vars", "round: 2"],
  "full refresh": ["run", "--full-refresh", "--vars", "round: 2"],
  docs: ["docs", "generate", "--vars", "round: 2"],
};
const relations = ["people", "scored", "by_year", "merged", "replaced", "grown", "agreed"];
const histories = ["history"];

export const dbtPostgres = pairOf("postgres", postgresPair);
export const dbtTrino = pairOf("trino", trinoLakePair);

function pairOf(target, pair) {
  return {
    suite: `dbt, ${target}`,
    version,
    behind: pair.behind,
    leftOut: {},
    async open() {
      const { python, reason } = await pythonWith(name, packages);
      if (python === undefined) return { reason };
      const opened = await pair.open();
      if (opened.reason !== undefined) return opened;
      const folder = join(pythonFolder(name), `project-${target}`);
      const builds = async (user, port) => {
        await opened.empty([]);
        const env = { SUITE_TARGET: target, SUITE_USER: user, SUITE_PORT: `${port}` };
        return build(folder, env);
      };
      let made;
      return {
        ...opened,
        direct: async () => {
          made = await builds(opened.login, opened.port);
          return resultsOf(made, made);
        },
        through: async (ports) => resultsOf(await builds("alice", ports[opened.frontend]), made),
      };
    },
  };
}

/** Takes all steps; answers how each node of each ended, and what was made, as text by its name. */
async function build(folder, env) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(join(projects, "dbt"), folder, { recursive: true });
  const ended = new Map();
  for (const [step, args] of Object.entries(steps)) {
    for (const [node, result] of await dbt(folder, env, args))
      ended.set(`${step}: ${node}`, result);
  }
  const told = new Map();
  for (const relation of relations) {
    told.set(
      `rows of ${relation}`,
      await rowsOf(folder, env, `select * from {{ ref('${relation}') }}`),
    );
  }
  for (const relation of histories) {
    const columns =
      "id, state, case when dbt_valid_to is null then 'now' else 'before' end as valid";
    const sql = `select ${columns} from {{ ref('${relation}') }}`;
    told.set(`rows of ${relation}`, await rowsOf(folder, env, sql));
  }
  for (const [relation, said] of await documented(folder)) {
    told.set(`documentation of ${relation}`, said);
  }
  return { ended, told };
}

/** What was made passes where it is as it was made direct. */
function resultsOf({ ended, told }, direct) {
  const results = new Map(ended);
  const all = new Set([...told.keys(), ...direct.told.keys()]);
  for (const what of all) {
    const [wanted, found] = [direct.told.get(what), told.get(what)];
    const outcome = wanted === found ? "passed" : "failed";
    results.set(what, { outcome, said: outcome === "passed" ? "" : `${found}, direct ${wanted}` });
  }
  return results;
}

/** Runs it; answers a map of `{outcome, said}` by node, or of the step alone where it ran none. */
async function dbt(folder, env, args) {
  const results = join(folder, "target", "run_results.json");
  await rm(results, { force: true });
  const { code, stdout, stderr } = await dbtCommand(folder, env, args);
  const text = await readFile(results, "utf8").catch(() => undefined);
  if (text === undefined || args[0] === "docs") {
    const said = `${stdout}\n${stderr}`.trim().split("\n").slice(-3).join(" ");
    return new Map([["all of it", { outcome: code === 0 ? "passed" : "failed", said }]]);
  }
  const nodes = JSON.parse(text).results.map(({ unique_id: id, status, message, failures }) => {
    const outcome = ["success", "pass", "no-op"].includes(status) ? "passed" : "failed";
    return [id.replace(/\.[0-9a-f]{10}$/, ""), { outcome, said: `${message} ${failures ?? ""}` }];
  });
  return new Map(nodes.map(expectedOf));
}

/** A test that has to fail passes by that. */
function expectedOf([node, { outcome, said }]) {
  if (node !== "test.shop.not_null_merged_score") return [node, { outcome, said }];
  const isSo = outcome === "failed" && said.startsWith("Got 1 result");
  return [node, { outcome: isSo ? "passed" : "failed", said }];
}

function dbtCommand(folder, env, args) {
  const program = join(pythonFolder(name), "bin", "dbt");
  const quiet = ["--no-use-colors", "--no-version-check"];
  const all = { ...env, DBT_PROFILES_DIR: folder, DBT_SEND_ANONYMOUS_USAGE_STATS: "false" };
  return command(program, [...quiet, ...args], { cwd: folder, env: all, seconds: stepSeconds });
}

/** The rows, in an order of their own. */
async function rowsOf(folder, env, sql) {
  const args = ["show", "--quiet", "--inline", sql, "--output", "json", "--limit", "50"];
  const { code, stdout, stderr } = await dbtCommand(folder, env, [...args, "--vars", "round: 2"]);
  const begin = stdout.indexOf("{");
  if (code !== 0 || begin < 0) return `${stdout}\n${stderr}`.trim().split("\n").at(-1);
  const { show } = JSON.parse(stdout.slice(begin, stdout.lastIndexOf("}") + 1));
  return show
    .map((row) => JSON.stringify(row))
    .toSorted()
    .join("\n");
}

/** What its documentation has of each relation in the database; who owns it is another here and there. */
async function documented(folder) {
  const text = await readFile(join(folder, "target", "catalog.json"), "utf8").catch(() => "{}");
  const { nodes = {} } = JSON.parse(text);
  return Object.entries(nodes).map(([id, { metadata, columns }]) => {
    const { type, schema, name: relation, comment } = metadata;
    return [id, JSON.stringify({ type, schema, relation, comment, columns })];
  });
}
