/**
 * What Trino's JDBC driver tells of a database, direct and through the gateway: `trinoMetadata.java` asks all of
 * `DatabaseMetaData`, and the columns, parameters, counts and failures of statements.
 */
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { ask } from "../trinoPair.mjs";
import { driver, trinoJdbcTool } from "./trinoJdbc.mjs";

const program = fileURLToPath(new URL("trinoMetadata.java", import.meta.url));
/** Questions asked each way; fewer would be a program that stopped early. */
const questionsMin = 230;

/** What may differ, and why. */
const meant = [
  [/^getURL$/, "the address is part of it"],
  [/^getUserName$/, "the driver asks Trino, which knows the service account"],
];

/** A column of every type that the catalog keeps. */
const types =
  "create table memory.types.every (b boolean, i tinyint, j smallint, k integer, l bigint, r real, d double, e decimal(12, 3), f decimal(38), v varchar, w varchar(9), c char(4), x varbinary, y json, z date, s time(3), t time(12) with time zone, u timestamp(0), p timestamp(9) with time zone, q interval day to second, o interval year to month, g uuid, h ipaddress, a array(varchar(3)), m map(integer, array(double)), n row(one integer, two varchar(2)))";

/** The differences that nobody named, as text; empty when there are none. */
export async function differencesOfMetadata(direct, through) {
  const tool = await trinoJdbcTool();
  if (tool !== true) throw new Error(tool);
  for (const sql of ["create schema if not exists memory.types", types]) await ask(direct, sql);
  const urls = [direct, through].map(
    (url) => `jdbc:trino://${new URL(url).host}/tpch/tiny?user=alice`,
  );
  const path = [driver, dirname(program)].join(delimiter);
  const { stdout } = expectCode(
    await command("java", ["-cp", path, program, ...urls], { seconds: 600 }),
  );
  const compared = Number(/^compared (\d+)$/m.exec(stdout)?.[1]);
  if (!(compared >= questionsMin)) return `only ${compared} questions were compared`;
  const found = stdout.split(/^(?=DIFFERENT )/m).filter((part) => part.startsWith("DIFFERENT "));
  const unnamed = found.filter((part) => {
    const name = /^DIFFERENT (.*)$/m.exec(part)?.[1] ?? "";
    return !meant.some(([named]) => named.test(name));
  });
  return unnamed
    .join("")
    .replace(/^compared .*$/m, "")
    .trim();
}
