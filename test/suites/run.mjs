/**
 * `npm run test:suites`: suites that others wrote for a server, on the real server and through the gateway before
 * it. Fails where a test that passed through before does so no longer; `--write` records what was found, for
 * `docs/reference/compatibility.md`. Other arguments pick suites by how their titles begin:
 * `pgx`, or "SQLAlchemy, mysql+pymysql before MySQL, engine `mysql`".
 */
import { buildIfStale } from "../../packages/gateway/bin/build.mjs";
import { startBefore } from "../real/configuredGateway.mjs";
import { dbtPostgres, dbtTrino } from "./dbt.mjs";
import { goMysql, goMysqlRelayed } from "./goMysql.mjs";
import { goPgx } from "./goPgx.mjs";
import { entryOf, record, regressions } from "./record.mjs";
import { asyncpg, psycopg2 } from "./pythonPostgres.mjs";
import {
  sqlalchemyMysql,
  sqlalchemyMysqlRelayed,
  sqlalchemyPostgres,
  sqlalchemyPostgresRelayed,
  sqlalchemyTrino,
} from "./sqlalchemy.mjs";
import { trinoPython } from "./trinoPython.mjs";

const pairs = [
  goMysql,
  goMysqlRelayed,
  goPgx,
  asyncpg,
  psycopg2,
  sqlalchemyPostgres,
  sqlalchemyPostgresRelayed,
  sqlalchemyMysql,
  sqlalchemyMysqlRelayed,
  sqlalchemyTrino,
  trinoPython,
  dbtPostgres,
  dbtTrino,
];
const chosen = process.argv.slice(2).filter((word) => word !== "--write");
const writes = process.argv.includes("--write");
const counts = { passed: 0, failed: 0, skipped: 0 };

await buildIfStale();
for (const pair of pairs) {
  if (isPicked(`${pair.suite} before `, (word, title) => word.startsWith(title))) await one(pair);
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);

/** Whether one of the words asked for it; without any, all are. */
function isPicked(title, more = () => false) {
  return chosen.length === 0 || chosen.some((word) => title.startsWith(word) || more(word, title));
}

async function one(pair) {
  const title = `${pair.suite} ${pair.version}`;
  const opened = await pair.open();
  if (opened.reason !== undefined) {
    counts.skipped += 1;
    console.log(`skipped  ${title} before ${pair.behind} (${opened.reason})`);
    return;
  }
  try {
    const { behind } = pair;
    const befores = [{ ...opened, behind }, ...(opened.others ?? [])].filter((before) =>
      isPicked(`${pair.suite} before ${before.behind}`),
    );
    if (befores.length === 0) return;
    const directly = await opened.direct();
    for (const before of befores) {
      told(title, await entryFrom({ ...pair, behind: before.behind }, opened, before, directly));
    }
  } finally {
    await opened.stop();
  }
}

function told(title, entry) {
  const worse = writes ? [] : regressions(entry);
  if (writes) record([entry]);
  counts[worse.length === 0 ? "passed" : "failed"] += 1;
  const { behind, through, direct } = entry;
  const outcome = worse.length === 0 ? "passed  " : "FAILED  ";
  console.log(`${outcome} ${title} before ${behind}: ${through} of the ${direct} that pass direct`);
  for (const name of worse) console.log(`         ${name}: ${entry.lost[name]}`);
}

async function entryFrom(pair, { server, through }, { cluster, env }, directly) {
  const gateway = await startBefore(cluster, env);
  try {
    return entryOf(pair, server, directly, await through(gateway.ports));
  } finally {
    await gateway.stop();
  }
}
