/**
 * What MySQL Connector/J and MariaDB Connector/J tell of a database, direct and through the gateway before it, on a
 * MySQL and on a MariaDB: `mysqlMetadata.java` asks all of `DatabaseMetaData`, and the columns, parameters, counts
 * and failures of statements.
 */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { connectorJJar } from "./connectorJ.mjs";
import { mariadbConnectorJJar } from "./mariadbConnectorJ.mjs";
import { meantOf } from "./mysqlMeant.mjs";

const program = fileURLToPath(new URL("mysqlMetadata.java", import.meta.url));
/** A push asks one way of each driver; the nightly run all of them, and whether each reason is still needed. */
const nightly = process.env.GATEWAY_NIGHTLY === "1";
/** Questions asked each way; fewer would be a program that stopped early. */
const questionsMin = 450;

const drivers = {
  "Connector/J": {
    jar: connectorJJar,
    scheme: "jdbc:mysql",
    common: "sslMode=DISABLED&allowPublicKeyRetrieval=true&allowMultiQueries=true",
    ways: {
      "by information_schema": "&useInformationSchema=true",
      "by SHOW": "&useInformationSchema=false",
      "prepared by the server, as schemas":
        "&useServerPrepStmts=true&databaseTerm=SCHEMA&tinyInt1isBit=false&yearIsDateType=false&useInformationSchema=true",
      "with cursors":
        "&useServerPrepStmts=true&useCursorFetch=true&defaultFetchSize=2&useInformationSchema=true",
    },
  },
  "MariaDB Connector/J": {
    jar: mariadbConnectorJJar,
    scheme: "jdbc:mariadb",
    common: "sslMode=disable&allowPublicKeyRetrieval=true&allowMultiQueries=true",
    ways: {
      plain: "",
      "prepared by the server, as schemas":
        "&useServerPrepStmts=true&useCatalogTerm=SCHEMA&tinyInt1isBit=false&defaultFetchSize=2",
    },
  },
};

/** The names of the drivers. */
export const metadataDrivers = Object.keys(drivers);

/**
 * What a driver is told differently without a reason that `mysqlMeant.mjs` has, as text, and the reasons for which
 * there was no difference; empty when there are none. `server` is the name of what stands behind; `direct` and
 * `through` are `{port, user, password}`.
 */
export async function differencesOfMysqlMetadata(name, server, direct, through) {
  const { jar, scheme, common, ways } = drivers[name];
  const url = ({ port, user, password = "" }, more) =>
    `${scheme}://127.0.0.1:${port}/demo?user=${user}&password=${password}&${common}${more}`;
  const wanted = Object.entries(ways).slice(0, nightly ? undefined : 1);
  const asked = wanted.flatMap(([way, more]) => [way, url(direct, more), url(through, more)]);
  const args = ["-cp", jar, program, ...asked];
  const env = { TZ: "UTC" };
  const { stdout } = expectCode(await command("java", args, { env, seconds: 600 }));
  const counts = [...stdout.matchAll(/^compared (\d+)$/gm)].map(([, count]) => Number(count));
  const enough = counts.filter((count) => count >= questionsMin);
  if (enough.length < wanted.length) return `too few questions: ${counts.join(", ")}`;
  return unnamedIn(stdout, meantOf(name, server));
}

function unnamedIn(stdout, meant) {
  const unused = new Set(meant);
  const unnamed = [];
  for (const part of stdout.split(/^(?=DIFFERENT |compared )/m)) {
    const read = /^DIFFERENT (.*)\n {2}direct ([^]*?)\n {2}through ([^]*)$/.exec(part);
    if (read === null) continue;
    const [, name, one, other] = read;
    const reason = meant.find((entry) => explains(entry, name, one.trim(), other.trim()));
    if (reason === undefined) unnamed.push(part.trimEnd());
    unused.delete(reason);
  }
  const stale = [...unused]
    .filter(({ sometimes }) => nightly && sometimes !== true)
    .map(({ why }) => `no difference any more: ${why}`);
  return [...unnamed, ...stale].join("\n");
}

/** A reason that says what to leave out explains no other difference. */
function explains({ of, without }, name, direct, through) {
  if (!of.test(name)) return false;
  if (without === undefined) return true;
  const [one, other] = [direct, through].map((text) =>
    without.reduce((left, part) => left.replaceAll(part, ""), text),
  );
  return one === other;
}
