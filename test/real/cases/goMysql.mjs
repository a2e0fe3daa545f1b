/**
 * go-sql-driver/mysql's own test suite, from the Go module proxy: each of its tests that the engine's
 * dialect allows. The others are listed with what stands in their way, so that the list is complete.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { command, expectCode } from "../command.mjs";
import { compileGoTests, goModule } from "../goModule.mjs";

/** The module with the suite. */
export const driver = "github.com/go-sql-driver/mysql@v1.9.3";
let folder;

const applies = [
  "TestBeforeConnect",
  "TestCharset",
  "TestCloseStmtBeforeRows",
  "TestColumnsReusesSlice",
  "TestConnectorTimeoutsWatchCancel",
  "TestContextBeginReadOnly",
  "TestContextCancelPrepare",
  "TestContextCancelQueryRow",
  "TestCRUD",
  "TestEmptyPassword",
  "TestEmptyQuery",
  "TestFailingCharset",
  "TestFloat32",
  "TestFloat64",
  "TestFloat64Placeholder",
  "TestFoundRows2",
  "TestNewConnector",
  "TestNULL",
  "TestPing",
  "TestPingContext",
  "TestRawBytes",
  "TestRawBytesResultExceedsBuffer",
  "TestRawMessage",
  "TestRejectReadOnly",
  "TestRowsClose",
  "TestSkipResults",
  "TestTimestampMicros",
  "TestUint64",
  "TestUnixSocketAuthFail",
  "TestValuerWithValueReceiverGivenNilValue",
];

const mysqlDdl = "makes tables of MySQL's own types or options, or procedures";
const mysqlSleep = "calls SLEEP";
const mysqlDo = "sends DO or VALUE, which are MySQL's grammar";
const noNet = "no test of a server: it dials addresses that do not answer";

/** Why a test says nothing about the gateway. */
export const doesNotApply = {
  TestCollation: "asks for collations the gateway does not have",
  TestColumnsWithAlias: "wants the table's alias in a column's name",
  TestConcurrent: "opens max_connections connections at once",
  TestConnectionAttributes: "needs performance_schema",
  TestConnectorObeysDialTimeouts: noNet,
  TestConnectorTimeoutsDuringOpen: noNet,
  TestContextBeginIsolationLevel: "an embedded DuckDB has snapshots, not READ COMMITTED",
  TestContextCancelBegin: mysqlSleep,
  TestContextCancelExec: mysqlSleep,
  TestContextCancelQuery: mysqlSleep,
  TestContextCancelStmtExec: mysqlSleep,
  TestContextCancelStmtQuery: mysqlSleep,
  TestCustomDial: mysqlDo,
  TestDateTime: "casts to TIME and DATETIME without fractions, and reads zero dates",
  TestDialNonRetryableNetErr: noNet,
  TestDialTemporaryNetErr: noNet,
  TestDialUnknownError: noNet,
  TestErrorInMultiResult: mysqlDdl,
  TestExecMultipleResults: mysqlDdl,
  TestFoundRows1: "counts rows that an UPDATE found and did not change",
  TestInsertRetrieveEscapedData: "a NUL in a text",
  TestInt: mysqlDdl,
  TestInterruptBySignal: mysqlDdl,
  TestIssue1567: "needs TLS, which the quick start has not",
  TestLoadData: mysqlDdl,
  TestLongData: mysqlDdl,
  TestMultiQuery: mysqlDdl,
  TestMultiResultSet: mysqlDo,
  TestMultiResultSetNoSelect: mysqlDo,
  TestNumbersToAny: mysqlDdl,
  TestPreparedManyCols: "65,535 parameters: DuckDB takes minutes to tell their columns",
  TestQueryMultipleResults: mysqlDdl,
  TestRawBytesAreNotModified: mysqlDdl,
  TestReuseClosedConnection: mysqlDo,
  TestRowsColumnTypes: mysqlDdl,
  TestSQLInjection: "asks for NO_BACKSLASH_ESCAPES",
  TestStmtMultiRows: "relies on the order of a UNION's rows",
  TestString: mysqlDdl,
  TestTimezoneConversion: mysqlDo,
  TestTLS: "needs TLS, which the quick start has not",
  TestValuer: mysqlDdl,
  TestValuerWithValidation: mysqlDdl,
};

/** True, or why it can not run. Compiles the suite once. */
export async function installGoMysql() {
  const { folder: made, reason } = await goModule(driver);
  if (made === undefined) return reason;
  folder = made;
  return compileGoTests(made, ".", "suite");
}

const each = (name) => [
  name,
  async (gateway) => {
    const env = {
      MYSQL_TEST_USER: "alice",
      MYSQL_TEST_ADDR: `127.0.0.1:${gateway.ports.mysql}`,
      MYSQL_TEST_DBNAME: "main",
    };
    const args = ["-test.run", `^${name}$`, "-test.timeout", "30s"];
    expectCode(await command(join(folder, "suite"), args, { env, cwd: folder }));
  },
];

export const goMysqlCases = {
  tool: "goMysql",
  cases: {
    ...Object.fromEntries(applies.map(each)),
    "every test of the suite is in one of the two lists": async () => {
      const source = await readFile(join(folder, "driver_test.go"), "utf8");
      const names = [...source.matchAll(/^func (Test\w+)\(t \*testing\.T\)/gm)].map(
        ([, name]) => name,
      );
      const unknown = names.filter((name) => !applies.includes(name) && !(name in doesNotApply));
      if (unknown.length > 0) throw new Error(`not listed: ${unknown.join(", ")}`);
    },
  },
};
