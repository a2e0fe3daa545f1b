/**
 * F16: an upgrade of a fleet while it works. The database of the first version gets the schema of this one under its
 * old program's writes; an old worker works with this control plane, and this worker with one that knows no more than
 * the old one; and what is newer than this program is refused with its reason while everything runs on.
 */
import { embeddedPrograms, startPostgres } from "../../real/postgresServer.mjs";
import { signed, snapshotIn } from "../forge.mjs";
import { Skip, freePort, servingConfig } from "../fleet.mjs";
import { openLedger, recordsOf } from "../ledger.mjs";
import { knownCalls, pathOf, playOldWorker } from "../oldWorker.mjs";
import { activeAt, ready, rejections, statusOf } from "../ops.mjs";
import { rigOf } from "../rigs.mjs";
import { check, notices, same, sameInSomeOrder, until } from "../wait.mjs";

export const title =
  "F16: a rolling upgrade, in both orders and with a newer database (I1, I2, I3, I6)";

const records = process.env.GATEWAY_NIGHTLY === "1" ? 200_000 : 2_000;
export const seconds = 240;

const indexFile = "select pg_relation_filenode('query_records_worker_at')";
/** What the old worker's calls name. */
const config = {
  ...servingConfig,
  clusters: { ...servingConfig.clusters, duck: { engine: "duckDb", threads: 1 } },
  clusterGroups: {
    ...servingConfig.clusterGroups,
    main: { members: ["duck"], maxRunningQueries: 1 },
  },
};

export async function run(fleet) {
  const { folder, reason } = await embeddedPrograms();
  if (folder === undefined) throw new Skip(reason);
  const server = await startPostgres(folder);
  fleet.defer(() => server.stop());
  const { openStandalone } = await rigOf("test/fleet/standaloneDatabase.ts");
  const database = openStandalone(server.url);
  fleet.defer(() => database[Symbol.asyncDispose]());

  const persistence = {
    type: "postgres",
    url: server.url,
    encryptionKey: "an encryption key of this test alone",
  };

  const control = await schemaUnderWrites(fleet, { database, persistence });
  const old = await playOldWorker(control, fleet.secret);
  const relay = await fleet.relay(control.port, relayRules(fleet));
  const worker = await fleet.worker("w1", relay.url);
  await worker.open().then(ready);
  const ledger = await openLedger(worker);
  ledger.start();
  await until("records are sent", async () => (await statusOf(worker)).historyUplink.sent > 0);

  await newerSnapshot(fleet, { control, worker, relay });
  await newerDatabase(fleet, { control, database, ledger, persistence });
  await ledger.stop();
  await ledger.settled();
  same(ledger.failures, [], "queries that failed");
  const kept = await recordsOf(control);
  const { queries } = await ledger.judge(kept);
  const ofOld = kept.map(({ proxyQueryId }) => proxyQueryId).filter((id) => old.includes(id));
  sameInSomeOrder(ofOld, old, "records of the old worker (I1, I2)");
  fleet.figure(`${queries} queries of a new worker and ${old.length} of an old one, each recorded`);
  const fewer = kept.filter(({ sql }) => !sql?.includes("-7'"));
  await notices("a record that is gone", () => ledger.judge(fewer), /I1/);
}

/** The old program writes while an operator prepares and this program's control plane starts. */
async function schemaUnderWrites(fleet, { database, persistence }) {
  await database.make(records);
  const prepared = await database.during("prepared", () => database.prepare());
  const made = await database.numberOf(indexFile);
  const control = await fleet.controlPlane({ config, port: await freePort(), persistence });
  const during = await database.during("during", () => control.open());
  const after = await database.during("after", async () => {});
  same(await database.numberOf(indexFile), made, "the index that was made beforehand");
  const written = [prepared, during, after].flatMap(({ ids }) => ids);
  const count = () => database.numberOf("select count(*) from query_records");
  same(await count(), records + written.length, "records of before, and of the old program (I1)");
  const longest = Math.round(Math.max(prepared.longestMs, during.longestMs));
  fleet.figure(
    `${records} records upgraded while ${written.length} came; the longest insert took ${longest} ms`,
  );
  return control;
}

/** An old control plane, which knows the first version's calls; and later a newer one, whose snapshots nobody can read. */
function relayRules(fleet) {
  const rules = {
    newer: false,
    unknown: new Set(),
    answer: ({ method, path }, good) => {
      const call = `${method} ${pathOf(path)}`;
      if (!knownCalls.has(call)) {
        rules.unknown.add(call);
        return { ...good, status: 404, headers: {}, body: Buffer.alloc(0) };
      }
      if (!rules.newer || path !== "/worker/config" || good.status !== 200) return undefined;
      return signed(good, snapshotIn(good), fleet.secret, { schemaVersion: 2 });
    },
  };
  return rules;
}

/** An old worker under a newer control plane keeps what it has, and says why. */
async function newerSnapshot(fleet, { control, worker, relay }) {
  const { activeRevision } = await statusOf(worker);
  const before = await rejections(worker);
  relay.rules.newer = true;
  const revision = await control.admin.editGroup({ maxQueuedQueries: 77 });
  await until("the newer snapshot is refused", async () => (await rejections(worker)) > before);
  const status = await statusOf(worker);
  same(status.activeRevision, activeRevision, "the active revision (I6)");
  check(/version/i.test(status.lastError ?? ""), `the reason is ${status.lastError}`);
  fleet.figure(`a newer snapshot: ${status.lastError}`);
  relay.rules.newer = false;
  await activeAt(worker, revision, 60);
}

/** The program of before runs on a newer database, and does not start on it. */
async function newerDatabase(fleet, { control, database, ledger, persistence }) {
  await database.numberOf(
    `with name as (insert into drizzle.migration_names (hash, name) values ('later', 'V999__later') returning 1)
     insert into drizzle.__drizzle_migrations (hash, created_at)
     select 'later', max(created_at) + 1 from drizzle.__drizzle_migrations returning 1`,
  );
  const served = ledger.count;
  await until("queries go on", () => ledger.count > served + 100);
  const late = await fleet.controlPlane({ config, persistence, name: "late" });
  await until("it does not start", () => !late.running, 60);
  check(/newer than this program/.test(late.text), `it says: ${late.text.slice(-500)}`);
  await control.admin.got("/admin/queries?limit=1");
}
