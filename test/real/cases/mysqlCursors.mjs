/**
 * Results that Connector/J fetches piece by piece from cursors of the server's (`useCursorFetch`), and that MariaDB
 * Connector/J reads as they come: what `mysqlCursors.java` is told, on the server and through the gateway before it.
 */
import { fileURLToPath } from "node:url";
import { command, expectCode, expectText } from "../command.mjs";
import { startBefore } from "../configuredGateway.mjs";
import { startMariadb } from "../mariadbServer.mjs";
import { startMysql } from "../mysqlServer.mjs";
import { makeTold } from "../mysqlTold.mjs";
import { connectorJJar } from "./connectorJ.mjs";
import { mariadbConnectorJJar } from "./mariadbConnectorJ.mjs";

const program = fileURLToPath(new URL("mysqlCursors.java", import.meta.url));
/** A push asks the first way of each driver; the nightly run all of them. */
const nightly = process.env.GATEWAY_NIGHTLY === "1";
/** Questions asked each way; fewer would be a program that stopped early. */
const questionsMin = 30;
/** Fetches that the server counted of Connector/J's, each way and twice: without cursors there are none. */
const fetchesMin = 3_000;

const mysqlCommon = "sslMode=DISABLED&allowPublicKeyRetrieval=true";
const mysqlCursors = `${mysqlCommon}&useCursorFetch=true`;
const drivers = {
  "Connector/J": {
    scheme: "jdbc:mysql",
    ways: {
      "with cursors": `${mysqlCursors}&defaultFetchSize=100`,
      "with cursors, compressed": `${mysqlCursors}&defaultFetchSize=3&useCompression=true`,
    },
  },
  "MariaDB Connector/J": {
    scheme: "jdbc:mariadb",
    ways: {
      "as they come": `sslMode=disable&allowPublicKeyRetrieval=true&useServerPrepStmts=true&defaultFetchSize=100`,
    },
  },
};

/** What the drivers are told differently; empty when nothing is. Accounts are `{port, user, password}`. */
async function differences(direct, through) {
  const url = (scheme, { port, user, password = "" }, more) =>
    `${scheme}://127.0.0.1:${port}/demo?user=${user}&password=${password}&${more}`;
  const asked = Object.entries(drivers).flatMap(([driver, { scheme, ways }]) =>
    Object.entries(ways)
      .slice(0, nightly ? undefined : 1)
      .flatMap(([way, more]) => [
        `${driver}, ${way}`,
        url(scheme, direct, more),
        url(scheme, through, more),
      ]),
  );
  const jars = `${connectorJJar}:${mariadbConnectorJJar}`;
  const admin = url("jdbc:mysql", direct, mysqlCommon);
  const args = ["-cp", jars, program, admin, ...asked];
  const { stdout } = expectCode(await command("java", args, { env: { TZ: "UTC" }, seconds: 600 }));
  const ends = [...stdout.matchAll(/^compared (\d+), (\d+) fetches$/gm)];
  const enough = ends.filter(([, questions]) => Number(questions) >= questionsMin);
  const fetches = Math.max(...ends.map(([, , count]) => Number(count)));
  if (enough.length < asked.length / 3 || fetches < fetchesMin) return `too little:\n${stdout}`;
  return stdout.replaceAll(/^compared .*\n/gm, "");
}

async function compared(startServer, { user, password }) {
  const { port, stop } = await startServer();
  try {
    const direct = { port, user, password };
    await makeTold(direct);
    const hosts = [`127.0.0.1:${port}`];
    const auth = { type: "basic", username: user, password };
    const gateway = await startBefore({
      engine: "mysql",
      hosts,
      auth,
      database: "demo",
      poolSize: 1,
    });
    try {
      const through = { port: gateway.ports.mysqlWire, user };
      expectText(await differences(direct, through), "");
    } finally {
      await gateway.stop();
    }
  } finally {
    await stop();
  }
}

const title = "results that drivers fetch piece by piece are the same as on the server";

export const mariadbCursorsCases = {
  tool: "cursorsOnMariadb",
  behind: "MariaDB",
  cases: {
    [title]: () => compared(() => startMariadb(), { user: "gateway", password: "gateway-secret" }),
  },
};

export const mysqlCursorsCases = {
  tool: "cursorsOnMysql",
  behind: "MySQL",
  cases: {
    [title]: () =>
      compared(() => startMysql({ more: ["--skip-log-bin"] }), {
        user: "alice",
        password: "alice-secret",
      }),
  },
};
