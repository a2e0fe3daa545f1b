/**
 * A worker of two processes before a real PostgreSQL: a user's connections are listed and ended in SQL wherever they
 * are, by both protocols that have words for it. Those of others are neither, and who asks is told so.
 */
import { embeddedPrograms, startPostgres } from "../../real/postgresServer.mjs";
import { cellOf, mysqlCell, mysqlClient, pgClient } from "../ask.mjs";
import { Skip, freePort, servingConfig } from "../fleet.mjs";
import { ready } from "../ops.mjs";
import { childrenOf } from "../processOf.mjs";
import { notices, same, sameInSomeOrder, until } from "../wait.mjs";

export const title =
  "Several processes behind one listener: own connections are listed and ended in SQL, nobody else's";

const sleep = "select pg_sleep(600)";
/** Connections come to the two processes in turns. */
const perUser = 4;
const refusals = { notOwner: 1095, unknown: 1094, ended: 1317, permission: "42501" };
const pgEnds = { cancelled: "57014", terminated: "57P01" };

export async function run(fleet) {
  const { folder, reason } = await embeddedPrograms();
  if (folder === undefined) throw new Skip(reason);
  const server = await startPostgres(folder);
  fleet.defer(() => server.stop());
  const worker = await workerBefore(fleet, server);
  await worker.open().then(ready);
  await mysqlLists(worker);
  await mysqlKills(worker);
  await postgresSignals(worker);
  await listWithoutKilled(worker);
}

async function workerBefore(fleet, { port, url }) {
  const { username } = new URL(url);
  const cluster = {
    engine: "postgresql",
    hosts: [`127.0.0.1:${port}`],
    database: "postgres",
    auth: { type: "basic", username, password: "any" },
  };
  const control = await fleet.controlPlane({
    config: { ...servingConfig, clusters: { local: cluster } },
  });
  await control.open();
  const place = async () => ({ host: "127.0.0.1", port: await freePort() });
  return await fleet.worker("w", `http://127.0.0.1:${control.port}`, {
    frontends: { postgresWire: await place(), mysqlWire: await place() },
    adminApi: await place(),
    coordination: { mode: "controlPlane" },
    processes: 2,
  });
}

/** Connections of a user, some in each process. */
async function mysqlClients(worker, user) {
  const clients = [];
  for (let n = 0; n < perUser; n += 1) clients.push(await mysqlClient(worker, undefined, user));
  return inBoth(clients, ({ threadId }) => threadId);
}

async function postgresClients(worker, user) {
  const clients = [];
  for (let n = 0; n < perUser; n += 1) clients.push(await pgClient(worker, user));
  return inBoth(clients, ({ processID }) => processID);
}

/** Their numbers tell the process: as many in one as in the other. */
function inBoth(clients, numberOf) {
  const [even, odd] = [0, 1].map((rest) =>
    clients.filter((client) => numberOf(client) % 2 === rest),
  );
  same([even.length, odd.length], [perUser / 2, perUser / 2], "connections of each process");
  return [...even, ...odd];
}

const leave = (clients) => Promise.all(clients.map((client) => client.end().catch(() => {})));

async function listed(client, sql = "show processlist") {
  const [rows] = await client.query(sql);
  return rows.map(({ Id, User }) => `${User} ${Id}`);
}

const named = (user, clients) => clients.map(({ threadId }) => `${user} ${threadId}`);

async function mysqlLists(worker) {
  const alice = await mysqlClients(worker, "alice");
  const bob = await mysqlClients(worker, "bob");
  const all = named("alice", alice);
  for (const client of alice) {
    sameInSomeOrder(await listed(client), all, "alice's list");
    sameInSomeOrder(await listed(client, "show full processlist"), all, "alice's full list");
  }
  for (const client of bob) sameInSomeOrder(await listed(client), named("bob", bob), "bob's list");
  const ofOne = () => sameInSomeOrder(all.slice(0, perUser / 2), all, "a list");
  await notices("a list of one process", ofOne, /a list/);
  const [first, ...others] = alice;
  // The client that is destroyed hears no answer.
  others
    .at(-1)
    .query(sleep)
    .catch(() => {});
  const runs = async () => {
    const [rows] = await first.query("show processlist");
    const row = rows.find(({ Id }) => Id === String(others.at(-1).threadId));
    return row.Command === "Query" && row.Info.includes("pg_sleep");
  };
  await until("what another process runs is in the list", runs);
  others.at(-1).destroy();
  const gone = async () => (await listed(first)).length === perUser - 1;
  await until("who left is in no list", gone);
  await leave([...alice, ...bob]);
}

async function mysqlKills(worker) {
  const alice = await mysqlClients(worker, "alice");
  const bob = await mysqlClients(worker, "bob");
  const [one, two] = [alice[0], alice.at(-1)];
  const refused = (client, sql) => client.query(sql).then(String, ({ errno }) => errno);
  for (const [from, to] of [
    [one, two],
    [two, one],
  ]) {
    const answer = to.query(sleep).then(String, ({ errno }) => errno);
    await until("it runs", async () => {
      const [rows] = await from.query("show processlist");
      return rows.some(({ Id, Info }) => Id === String(to.threadId) && Info?.includes("pg_sleep"));
    });
    for (const client of bob) {
      same(
        await refused(client, `kill query ${to.threadId}`),
        refusals.notOwner,
        "bob's KILL QUERY",
      );
      same(await refused(client, `kill ${to.threadId}`), refusals.notOwner, "bob's KILL");
    }
    await from.query(`kill query ${to.threadId}`);
    same(await answer, refusals.ended, "a KILL QUERY of one's own");
    same(await mysqlCell(to, "select 7"), "7", "the connection whose statement was ended");
  }
  const ended = new Promise((resolve) => {
    two.once("end", resolve).once("error", resolve);
  });
  await one.query(`kill ${two.threadId}`);
  await ended;
  // Its client hears of the end first, as before a server.
  await until(
    "a KILL of nobody is refused",
    async () => (await refused(one, `kill ${two.threadId}`)) === refusals.unknown,
  );
  sameInSomeOrder(await listed(one), named("alice", alice.slice(0, -1)), "the list behind a KILL");
  await leave([...alice, ...bob]);
}

async function postgresSignals(worker) {
  const alice = await postgresClients(worker, "alice");
  const bob = await postgresClients(worker, "bob");
  const [one, two] = [alice[0], alice.at(-1)];
  const codeOf = (asked) =>
    asked.then(
      () => "answered",
      ({ code }) => code,
    );
  // A connection at rest still shows what was cancelled on it last.
  const asleep = `from pg_stat_activity
    where state = 'active' and query ~ 'pg_sleep[(]600' and pid <> pg_backend_pid()`;
  const runs = (from) =>
    until("it runs", async () => (await cellOf(from, `select count(*) ${asleep}`)) === "1");
  for (const [from, to] of [
    [one, two],
    [two, one],
  ]) {
    const answer = codeOf(to.query(sleep));
    await runs(from);
    for (const client of bob) {
      const text = `select pg_cancel_backend(${to.processID})`;
      same(await codeOf(client.query(text)), refusals.permission, "bob's cancel");
      const ends = { text: "select pg_terminate_backend($1)", values: [to.processID] };
      same(await codeOf(client.query(ends)), refusals.permission, "bob's end");
    }
    same(await cellOf(from, `select pg_cancel_backend(${to.processID})`), "true", "a cancel");
    same(await answer, pgEnds.cancelled, "the statement that was cancelled");
    same(await cellOf(to, "select 7"), "7", "the connection whose statement was cancelled");
    const found = codeOf(to.query(sleep));
    await runs(from);
    const finds = `select pg_cancel_backend(pid) ${asleep}`;
    for (const client of bob) same(await cellOf(client, finds), "false", "what bob finds");
    same(await cellOf(from, finds), "true", "a cancel of what is found");
    same(await found, pgEnds.cancelled, "the statement that was found");
  }
  // The server's own numbers are those of connections that sessions share.
  const pid = await cellOf(
    one,
    "select min(pid) from pg_stat_activity where backend_type = 'client backend'",
  );
  const ofServer = codeOf(one.query(`select pg_terminate_backend(${pid})`));
  same(await ofServer, refusals.permission, "the end of a shared connection");
  const ended = new Promise((resolve) => {
    two.once("error", ({ code }) => resolve(code));
  });
  const ends = {
    text: "select pg_terminate_backend($1)",
    values: [two.processID],
    rowMode: "array",
  };
  same((await one.query(ends)).rows, [[true]], "an end");
  same(await ended, pgEnds.terminated, "what the ended connection was told");
  await leave([...alice, ...bob]);
}

/** A process that is no more has no connections, and asking for its list holds nobody up. */
async function listWithoutKilled(worker) {
  const clients = await mysqlClients(worker, "alice");
  const [first] = childrenOf(worker.pid);
  process.kill(first, "SIGKILL");
  await worker.logged("process.ended");
  const left = clients.filter(({ threadId }) => threadId % 2 === 0);
  const asked = await Promise.all(clients.map((client) => listed(client).catch(() => undefined)));
  const answers = asked.filter((answer) => answer !== undefined);
  same(answers.length, perUser / 2, "connections that are left");
  same([...answers[0]].length, perUser / 2, "their list");
  same(left.length, perUser / 2, "of the other process");
  await leave(clients);
}
