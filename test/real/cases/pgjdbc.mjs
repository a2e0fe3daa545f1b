/** pgjdbc from Maven Central, which DBeaver, Metabase and Tableau browse by, driven by one Java source file. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { command, expectCode, expectText } from "../command.mjs";
import { endlessSql, untilRunning } from "../gateway.mjs";
import { bringJar, jarOf } from "./maven.mjs";

const version = "42.7.14";
const source = fileURLToPath(new URL("pgjdbc.java", import.meta.url));

/** The driver, once it was brought. */
export const pgjdbcJar = jarOf("postgresql", version);

/** True, or why it can not run. */
export const installPgjdbc = () => bringJar("org.postgresql", "postgresql", version);

/** Arguments of one method of the source; `more` are connection properties. */
function argumentsOf(gateway, what, more = "") {
  const url = `jdbc:postgresql://127.0.0.1:${gateway.ports.postgres}/memory?user=alice&sslmode=disable${more}`;
  return ["-cp", pgjdbcJar, source, url, what];
}

const run = async (gateway, what, more) =>
  expectCode(await command("java", argumentsOf(gateway, what, more), { seconds: 90 })).stdout;

/** From text first, binary after five executions, or as the properties say. */
const ways = ["", "&prepareThreshold=-1", "&preferQueryMode=simple"];

const preparedRows = Array.from({ length: 7 }, (_, round) => {
  const text = round % 2 === 0 ? `it's \\ ${round}` : "null";
  return `${round + 1} ${text} 2024-02-29 1.50 ${9223372036854775807n - BigInt(round)} ${round > 3}`;
}).join("\n");

export const pgjdbcCases = {
  tool: "pgjdbc",
  cases: {
    "types arrive as Java's own, exactly, however often a statement runs": async (gateway) => {
      const wanted =
        "12345678901234567890.12 2024-02-29 2024-02-29T23:59:59.123456 9223372036854775807 null ä true [1, 2] 1.5 2024-02-29T12:00:00Z [0, -1]";
      for (const way of ways) expectText(await run(gateway, "types", way), wanted);
    },
    "a prepared statement takes typed values, past the fifth use too": async (gateway) => {
      for (const way of ways) expectText(await run(gateway, "prepared", way), preparedRows);
    },
    "a fetch size in a transaction brings rows in pieces": async (gateway) => {
      expectText(await run(gateway, "cursor"), "312487500");
    },
    "batches, commit and rollback": async (gateway) => {
      for (const more of ["", "&reWriteBatchedInserts=true"]) {
        const found = await run(gateway, "writes", more);
        expectText(found, "300 rows, 0 after the rollback, 300 after the commit");
      }
    },
    "metadata is what tools browse by": async (gateway) => {
      const found = await run(gateway, "metadata");
      for (const line of [
        "product PostgreSQL",
        'quote "',
        "keywords yes",
        "table customers TABLE",
        "table jdbc_keyed TABLE",
        "column id int4 NO",
        "column name text NO",
        "key id 1",
        "index jdbc_keyed_pkey id",
        "types yes",
      ]) {
        if (!found.includes(`${line}\n`)) throw new Error(`no '${line}' in\n${found}`);
      }
    },
    "cancel ends the engine's query and keeps the connection": async (gateway) => {
      const child = spawn("java", [...argumentsOf(gateway, "cancel"), endlessSql], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      let stdout = "";
      child.stdout.on("data", (chunk) => {
        stdout += chunk;
      });
      const closed = new Promise((resolve) => {
        child.on("close", resolve);
      });
      await untilRunning(gateway, 1, 20);
      child.stdin.end("\n");
      await untilRunning(gateway, 0, 2);
      await closed;
      expectText(stdout, "57014\ngoes on");
    },
    "an error has its SQLSTATE, and a transaction is over after one": async (gateway) => {
      const wanted = "42P01\n42601\n22P02\n42601\n25P02\ngoes on";
      expectText(await run(gateway, "errors"), wanted);
    },
  },
};
