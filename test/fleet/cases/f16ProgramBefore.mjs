/**
 * F16 with the program of before itself, built from this clone's history: its control plane and its worker go on while
 * this program migrates their database; then this program's control plane takes the old one's place, under the old
 * worker and a new one. A clone without the commit can not build it and skips, unless `WHOLE_HISTORY=1` promised it;
 * `PROGRAM_BEFORE` names a bundle that was kept.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { embeddedPrograms, startPostgres } from "../../real/postgresServer.mjs";
import { buildProgram, commitOf, recordedCommits, sourcesOf } from "../../upgrade/before.mjs";
import { Skip, freePort, servingConfig } from "../fleet.mjs";
import { openLedger, recordsOf } from "../ledger.mjs";
import { activeAt, ready, statusOf } from "../ops.mjs";
import { bundle } from "../program.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "F16: the program of before on this schema, and its worker under this control plane (I1, I2, I6)";
export const seconds = 600;

export async function run(fleet) {
  const { folder, reason } = await embeddedPrograms();
  if (folder === undefined) throw new Skip(reason);
  const before = await programBefore(fleet);
  const server = await startPostgres(folder);
  fleet.defer(() => server.stop());
  const encryptionKey = "an encryption key of this test alone";
  const persistence = { type: "postgres", url: server.url, encryptionKey };
  const plane = { port: await freePort(), config: servingConfig, persistence };

  const old = await fleet.controlPlane({ ...plane, name: "before", program: before });
  await old.open();
  const url = `http://127.0.0.1:${plane.port}`;
  const worker = await fleet.worker("w1", url, { program: before });
  await worker.open().then(ready);
  const ledger = await openLedger(worker);
  ledger.start();
  await moreRecords(worker);

  const migrated = await promisify(execFile)(process.execPath, [
    bundle,
    "migrate",
    "--config",
    old.file,
  ]);
  check(/V\d{3}/.test(migrated.stdout), `nothing was migrated: ${migrated.stdout}`);
  fleet.figure(`under the program of before: ${migrated.stdout.trim().replaceAll("\n", " ")}`);
  await works(old, worker, 41);

  await old.stop();
  const control = await fleet.controlPlane({ ...plane, name: "now" });
  await control.open();
  await works(control, worker, 42);
  const newer = await fleet.worker("w2", url);
  await newer.open().then(ready);

  await ledger.stop();
  await ledger.settled();
  same(ledger.failures, [], "queries that failed");
  const kept = await recordsOf(control);
  const { queries } = await ledger.judge(kept);
  fleet.figure(`${queries} queries of a worker of before, each recorded once`);
  await notices("a record that is gone", () => ledger.judge(kept.slice(0, -20)), /I1/);
}

async function programBefore(fleet) {
  const { PROGRAM_BEFORE: kept, WHOLE_HISTORY: promised } = process.env;
  if (kept !== undefined) return kept;
  const names = recordedCommits();
  const commit = names.map(commitOf).find(Boolean);
  if (commit === undefined) {
    const reason = `this clone's history has none of the programs of before: ${names.join(", ")}`;
    check(promised !== "1", reason);
    throw new Skip(`${reason}; fetch the whole history, or name a bundle with PROGRAM_BEFORE`);
  }
  const folder = await fleet.folder("program");
  sourcesOf(commit, folder);
  return buildProgram(folder);
}

/** A change reaches the worker, and its records go on arriving. */
async function works(control, worker, maxQueuedQueries) {
  const revision = await control.admin.editGroup({ maxQueuedQueries });
  await activeAt(worker, revision, 60);
  await moreRecords(worker);
}

async function moreRecords(worker) {
  const sent = async () => (await statusOf(worker)).historyUplink.sent;
  const before = await sent();
  await until("more records are taken", async () => (await sent()) > before, 60);
}
