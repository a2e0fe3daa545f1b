/** SQLAlchemy's suite for dialects, on PostgreSQL, MySQL and Trino, direct and through. */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  mysqlPair,
  mysqlRelayedPair,
  postgresDriverPair,
  postgresRelayedPair,
  trinoPair,
} from "./servers.mjs";
import { projects, pythonFolder, pythonTests, pythonWith, unpackSource } from "./pythonTests.mjs";

const version = "2.1.9";
const name = `sqlalchemy-suite-${version}`;
const packages = [
  `SQLAlchemy==${version}`,
  "pytest==8.4.2",
  "psycopg[binary]==3.3.9",
  "PyMySQL==1.2.4",
  "cryptography",
  "trino==0.340.0",
];
/** What SQLAlchemy itself asks of these servers stands beside its tests, and those are in its source only. */
const own = "test.requirements:DefaultRequirements";
const source = join(pythonFolder(name), "source");

/** Where sessions share the server's connections. */
const shared = {
  requirements: "sharedRequirements:Requirements",
  leftOut: { "temporary tables": "are refused, because sessions share the server's connections" },
};

export const sqlalchemyPostgres = postgresOf({ ...shared, pair: postgresDriverPair });
export const sqlalchemyPostgresRelayed = postgresOf({
  requirements: own,
  pair: postgresRelayedPair,
});

function postgresOf(rest) {
  const urlOf = (user, port, database) =>
    `postgresql+psycopg://${user}@127.0.0.1:${port}/${database}`;
  return pairOf({ dialect: "postgresql+psycopg", urlOf, ...rest });
}

export const sqlalchemyMysql = mysqlOf({ ...shared, pair: mysqlPair });
export const sqlalchemyMysqlRelayed = mysqlOf({ requirements: own, pair: mysqlRelayedPair });

function mysqlOf(rest) {
  const urlOf = (user, port, database) =>
    `mysql+pymysql://${user}@127.0.0.1:${port}/${database}?charset=utf8mb4`;
  return pairOf({ dialect: "mysql+pymysql", urlOf, ...rest });
}

/** Its dialect has no question about many tables: it asks of each what other tests ask, and that takes hours. */
const ofMany = ["get_multi", "multi_get"];
export const sqlalchemyTrino = pairOf({
  dialect: "trino",
  requirements: "trinoRequirements:Requirements",
  leftOut: {
    "reflection of many tables at once":
      "its dialect asks table by table, as the tests of one table do",
  },
  unpicked: ofMany,
  pair: trinoPair,
  urlOf: (user, port) => `trino://${user}@127.0.0.1:${port}/memory/default`,
});

function pairOf({ dialect, requirements, leftOut = {}, unpicked = [], pair, urlOf }) {
  const picked = unpicked.map((word) => `not ${word}`).join(" and ");
  return {
    suite: `SQLAlchemy, ${dialect}`,
    version,
    behind: pair.behind,
    leftOut,
    async open() {
      const { python, reason } = await pythonWith(name, packages, withTests);
      if (python === undefined) return { reason };
      const opened = await pair.open();
      if (opened.reason !== undefined) return opened;
      const project = await projectIn(join(pythonFolder(name), pair.name), requirements);
      const tests = async (user, port) => {
        await opened.empty(emptied);
        const url = urlOf(user, port, opened.database);
        const args = ["--dburi", url, "test_suite.py", ...(picked === "" ? [] : ["-k", picked])];
        const env = { PYTHONPATH: source };
        return pythonTests(python, args, { cwd: project, env, nameOf });
      };
      return {
        ...opened,
        direct: () => tests(opened.login, opened.port),
        through: (ports) => tests("alice", ports[opened.frontend]),
      };
    },
  };
}

/** The schemas that the suite wants beside its own. */
const emptied = ["test_schema", "test_schema_2"];

/** The names of its classes end in the dialect, the driver and the server's version. */
function nameOf(id) {
  const [, kind, test] = /::(.+?)::(.*)$/s.exec(id) ?? [undefined, undefined, id];
  if (kind === undefined) return test;
  return `${kind.replace(/_(?:postgresql|mysql|trino)(?:\+\w+?)?(?:_\d.*)?$/, "")}.${test}`;
}

async function projectIn(folder, requirements) {
  await mkdir(folder, { recursive: true });
  await cp(join(projects, "sqlalchemy"), folder, { recursive: true });
  const lines = [
    "[tool:pytest]",
    "python_files = test_suite.py",
    // Its dialect says so for each table with a key, and the suite fails at warnings.
    "filterwarnings = ignore:Trino does not support",
    "[sqla_testing]",
    `requirement_cls = ${requirements}`,
    "profile_file = profiles.txt",
  ];
  await writeFile(join(folder, "setup.cfg"), `${lines.join("\n")}\n`);
  return folder;
}

/** No wheel has the tests' requirements. */
function withTests(_folder, python) {
  const files = ["*/test/*.py"];
  return unpackSource(python, { name: "SQLAlchemy", version, files, to: source });
}
