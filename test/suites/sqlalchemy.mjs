/** SQLAlchemy's suite for dialects, on PostgreSQL, MySQL and Trino, direct and through. */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { command } from "../real/command.mjs";
import { mysqlPair, postgresPair, trinoPair } from "./servers.mjs";
import { projects, pythonFolder, pythonTests, pythonWith } from "./pythonTests.mjs";

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

export const sqlalchemyPostgres = pairOf({
  dialect: "postgresql+psycopg",
  requirements: own,
  pair: postgresPair,
  urlOf: (user, port, database) => `postgresql+psycopg://${user}@127.0.0.1:${port}/${database}`,
});
export const sqlalchemyMysql = pairOf({
  dialect: "mysql+pymysql",
  requirements: "mysqlRequirements:Requirements",
  leftOut: {
    "temporary tables": "are refused, because sessions share the server's connections",
  },
  pair: mysqlPair,
  urlOf: (user, port, database) =>
    `mysql+pymysql://${user}@127.0.0.1:${port}/${database}?charset=utf8mb4`,
});
export const sqlalchemyTrino = pairOf({
  dialect: "trino",
  requirements: "trinoRequirements:Requirements",
  pair: trinoPair,
  urlOf: (user, port) => `trino://${user}@127.0.0.1:${port}/memory/default`,
});

function pairOf({ dialect, requirements, leftOut = {}, pair, urlOf }) {
  return {
    suite: `SQLAlchemy, ${dialect}`,
    version,
    behind: pair.behind,
    leftOut,
    async open() {
      const { python, reason } = await pythonWith(name, packages, unpackSource);
      if (python === undefined) return { reason };
      const opened = await pair.open();
      if (opened.reason !== undefined) return opened;
      const project = await projectIn(join(pythonFolder(name), pair.name), requirements);
      const tests = async (user, port) => {
        await opened.empty(emptied);
        const url = urlOf(user, port, opened.database);
        const args = ["--dburi", url, "test_suite.py"];
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

/** Unpacks SQLAlchemy's source, of which no wheel has the tests' requirements. */
async function unpackSource(folder, python) {
  const args = ["-m", "pip", "download", "-q", "--no-deps", "--no-binary", "SQLAlchemy"];
  const to = ["-d", folder, `SQLAlchemy==${version}`];
  const fetched = await command(python, [...args, ...to], { seconds: 300 });
  if (fetched.code !== 0) return `pip failed: ${fetched.stderr.trim().split("\n").at(-1)}`;
  await mkdir(source, { recursive: true });
  const archive = join(folder, `sqlalchemy-${version}.tar.gz`);
  const tar = ["-xzf", archive, "-C", source, "--strip-components=1", "--wildcards", "*/test/*.py"];
  const unpacked = await command("tar", tar);
  return unpacked.code === 0 ? undefined : `tar failed: ${unpacked.stderr.trim()}`;
}
