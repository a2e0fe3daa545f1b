/** asyncpg's and psycopg2's own suites on a PostgreSQL, direct and through the engine of its own protocol. */
import { join } from "node:path";
import { pythonFolder, pythonTests, pythonWith, unpackSource } from "./pythonTests.mjs";
import { postgresRelayedPair } from "./servers.mjs";

export const asyncpg = suiteOf({
  suite: "asyncpg",
  version: "0.32.0",
  extensions: [],
  packages: ["asyncpg==0.32.0", "distro==1.9.0"],
  leftOut: {
    test__sourcecode: "reads its own source",
    test__environment: "asks which versions its authors' machine has",
  },
  envOf: (user, port) => ({
    PGHOST: "127.0.0.1",
    PGPORT: `${port}`,
    PGUSER: user,
    PGDATABASE: "postgres",
    // The server has no TLS. With it asyncio closes a turn later, and some tests count those.
    PGSSLMODE: "disable",
  }),
});
export const psycopg2 = suiteOf({
  suite: "psycopg2",
  version: "2.9.11",
  extensions: ["hstore"],
  packages: ["psycopg2-binary==2.9.11"],
  leftOut: {},
  envOf: (user, port) => ({
    PSYCOPG2_TESTDB: "postgres",
    PSYCOPG2_TESTDB_HOST: "127.0.0.1",
    PSYCOPG2_TESTDB_PORT: `${port}`,
    PSYCOPG2_TESTDB_USER: user,
  }),
});

function suiteOf({ suite, version, extensions, packages, leftOut, envOf }) {
  const name = `${suite}-suite-${version}`;
  const source = join(pythonFolder(name), "source");
  const withTests = (_folder, python) =>
    unpackSource(python, { name: suite, version, files: ["*/tests/*"], to: source });
  return {
    suite,
    version,
    behind: postgresRelayedPair.behind,
    leftOut,
    async open() {
      const wanted = [...packages, "pytest==8.4.2"];
      const { python, reason } = await pythonWith(name, wanted, withTests);
      if (python === undefined) return { reason };
      const opened = await postgresRelayedPair.open();
      if (opened.reason !== undefined) return opened;
      const ignored = Object.keys(leftOut).map((file) => `--ignore=tests/${file}.py`);
      const tests = async (user, port) => {
        await opened.empty([], extensions);
        const env = envOf(user, port);
        // What pytest makes of their comparisons nests too deep for Python where long values differ.
        // Nor does it survive to show a source that it can not read any more.
        const args = ["--assert=plain", "--tb=native", "tests", ...ignored];
        return pythonTests(python, args, { cwd: source, env });
      };
      return {
        ...opened,
        direct: () => tests(opened.login, opened.port),
        through: (ports) => tests("alice", ports[opened.frontend]),
      };
    },
  };
}
