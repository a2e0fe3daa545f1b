/** MariaDB Connector/J from Maven Central, driven by one Java source file. */
import { fileURLToPath } from "node:url";
import { command, expectCode, expectText } from "../command.mjs";
import { bringJar, jarOf } from "./maven.mjs";

const name = "mariadb-java-client";
const version = "3.5.6";
const source = fileURLToPath(new URL("mariadbConnectorJ.java", import.meta.url));

/** The driver, once it was brought. */
export const mariadbConnectorJJar = jarOf(name, version);

/** True, or why it can not run. */
export const installMariadbConnectorJ = () => bringJar("org.mariadb.jdbc", name, version);

const wanted = `types 12345678901234567890.12 2024-02-29 2024-02-29T23:59:59.123456 9223372036854775807 null ä true it's \\ ä
rows 0 3
table customers TABLE
column customer_id INT
error 1146 42S02
error 1064 42000`;

const each = ([title, more]) => [
  `types, writes, metadata and errors, ${title}`,
  async (gateway) => {
    const url = `jdbc:mariadb://127.0.0.1:${gateway.ports.mysql}/main?user=alice${more}`;
    const args = ["-cp", mariadbConnectorJJar, source, url];
    expectText(expectCode(await command("java", args, { seconds: 90 })).stdout, wanted);
  },
];

export const mariadbConnectorJCases = {
  tool: "mariadbConnectorJ",
  cases: Object.fromEntries(
    [
      ["with text statements", ""],
      ["prepared by the server", "&useServerPrepStmts=true"],
      ["compressed, with bulk statements", "&useCompression=true&useBulkStmts=true"],
    ].map(each),
  ),
};
