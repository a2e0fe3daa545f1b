/** MySQL Connector/J from Maven Central, driven by one Java source file. */
import { fileURLToPath } from "node:url";
import { command, expectCode, expectText } from "../command.mjs";
import { bringJar, jarOf } from "./maven.mjs";

const version = "9.4.0";
const jar = jarOf("mysql-connector-j", version);
/** The driver, once it was brought. */
export const connectorJJar = jar;
const source = fileURLToPath(new URL("mysqlConnectorJ.java", import.meta.url));

/** True, or why it can not run. */
export const installConnectorJ = () => bringJar("com.mysql", "mysql-connector-j", version);

/** Runs one method of the source; `more` are connection properties. */
async function run(gateway, what, more = "") {
  const url = `jdbc:mysql://127.0.0.1:${gateway.ports.mysql}/main?user=alice&sslMode=DISABLED${more}`;
  const args = ["-cp", jar, source, url, what];
  return expectCode(await command("java", args, { seconds: 90 })).stdout;
}

const rows = Array.from({ length: 25 }, (_, row) => row).join(" ");

export const connectorJCases = {
  tool: "connectorJ",
  cases: {
    "types arrive as Java's own, from text and from binary rows": async (gateway) => {
      const wanted =
        "12345678901234567890.12 2024-02-29 2024-02-29T23:59:59.123456 9223372036854775807 null ä true";
      expectText(await run(gateway, "types"), wanted);
      expectText(await run(gateway, "types", "&useServerPrepStmts=true"), wanted);
    },
    "a cursor brings its rows in pieces, also beside another statement": async (gateway) => {
      const more = "&useCursorFetch=true&useServerPrepStmts=true";
      expectText(await run(gateway, "cursor", more), `${rows} / 25`);
    },
    "rows come one by one where the client streams": async (gateway) => {
      expectText(await run(gateway, "stream"), rows);
    },
    "everything compressed": async (gateway) => {
      expectText(await run(gateway, "large", "&useCompression=true"), "5000000 500000");
    },
    "batches, transactions and generated statements": async (gateway) => {
      expectText(await run(gateway, "writes"), "3 rows, 0 after the rollback, 3 after the commit");
      const more = "&rewriteBatchedStatements=true&useServerPrepStmts=true";
      expectText(
        await run(gateway, "writes", more),
        "3 rows, 0 after the rollback, 3 after the commit",
      );
    },
    "metadata is what tools browse by": async (gateway) => {
      const found = await run(gateway, "metadata");
      for (const line of [
        "table customers TABLE",
        "column customer_id INT",
        "quote `",
        "product MySQL",
        "types yes",
        "functions 0",
      ]) {
        if (!found.includes(line)) throw new Error(`no '${line}' in\n${found}`);
      }
      await run(gateway, "metadata", "&useInformationSchema=true");
    },
    "an error has its number and SQLSTATE": async (gateway) => {
      expectText(await run(gateway, "errors"), "1146 42S02\n1064 42000\n1049 42000");
    },
  },
};
