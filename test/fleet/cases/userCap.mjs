/** A limit of each user holds at the engine over all workers, and nobody else waits for that user's queries. */
import bcrypt from "bcryptjs";
import { pgClient } from "../ask.mjs";
import { mostAtOnce, startEngine } from "../engine.mjs";
import { servingConfig } from "../fleet.mjs";
import { ready } from "../ops.mjs";
import { idle } from "../shared.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title = "one user's queries never pass its limit over two workers; others go on (I4)";
export const usualSeconds = 30;

const perUser = 2;
const perConnection = 12;
const runMs = 150;

export async function run(fleet) {
  const engine = await startEngine(fleet);
  const { control, workers, password } = await limitedFleet(fleet, engine);

  const ann = async (at) => {
    const client = await pgClient(workers[at % 2], "ann", password);
    return asksInARow(client, "ann", perConnection);
  };
  const flood = Promise.all(Array.from({ length: 8 }, (_, at) => ann(at)));
  await until("ann runs all that she may", () => ofUser(engine, "ann").length >= perUser, 60);
  // Eight slots, two of them ann's: bob's queries find room at once, on either worker.
  const clients = await Promise.all(workers.map((worker) => pgClient(worker, "bob", password)));
  const bobs = await Promise.all(clients.map((client) => asksInARow(client, "bob", 8)));
  check(ofUser(engine, "ann").length < 8 * perConnection, "ann was done before bob was");
  same([...(await flood), ...bobs].flat(), [], "queries that failed");
  await idle(engine);

  const anns = ofUser(engine, "ann");
  same(anns.length, 8 * perConnection, "queries of ann");
  const judge = (statements) =>
    same(mostAtOnce(statements), perUser, "most of ann's at once at the engine (I4)");
  judge(anns);
  const over = Array.from({ length: perUser + 1 }, () => anns[0]);
  await notices("a limit that is passed", () => judge([...anns, ...over]), /I4/);
  check(mostAtOnce(ofUser(engine, "bob")) === perUser, "bob had less than his share");
  fleet.figure(`${anns.length} queries of one user over two workers, never more than ${perUser}`);
  await Promise.all([control, ...workers].map((program) => program.stop()));
}

async function limitedFleet(fleet, engine) {
  const password = "a password of the case";
  const passwordHash = await bcrypt.hash(password, 4);
  const users = { ann: { passwordHash }, bob: { passwordHash } };
  const config = {
    ...servingConfig,
    clusters: { local: { engine: "trino", endpoint: engine.url, maxRunningQueries: 8 } },
    clusterGroups: {
      default: { members: ["local"], maxRunningQueries: 8, maxRunningPerUser: perUser },
    },
    auth: { provider: "static", staticUsers: { users } },
  };
  const control = await fleet.controlPlane({ config });
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const coordination = { mode: "controlPlane" };
  const names = ["w1", "w2"];
  const workers = await Promise.all(names.map((name) => fleet.worker(name, url, { coordination })));
  await Promise.all(workers.map((worker) => worker.open().then(ready)));
  return { control, workers, password };
}

/** One connection, one query after the other; answers the codes of what failed. */
async function asksInARow(client, user, count) {
  const failures = [];
  for (let query = 0; query < count; query += 1) {
    await client
      .query({ text: `select '${runMs} ms ${user}'`, query_timeout: 120_000 })
      .catch((error) => failures.push(String(error.code ?? error.message)));
  }
  await client.end();
  return failures;
}

function ofUser(engine, user) {
  return engine.statements.filter(({ sql }) => sql.endsWith(` ms ${user}'`));
}
