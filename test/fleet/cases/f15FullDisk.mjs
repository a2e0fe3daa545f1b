/** F15: the disk under the state folder is full: queries go on, the status tells, and nothing on it is corrupt afterwards. */
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { command } from "../../real/command.mjs";
import { Skip, freePort } from "../fleet.mjs";
import { openLedger, recordsOf } from "../ledger.mjs";
import { activeAt, ready, statusOf } from "../ops.mjs";
import { same, until } from "../wait.mjs";

export const title = "F15: the state folder's disk is full (I1, I2, I3)";

export async function run(fleet) {
  const stateDir = await fleet.folder("state");
  const mounted = await command("mount", ["-t", "tmpfs", "-o", "size=2m", "gateway", stateDir]);
  if (mounted.code !== 0) throw new Skip(`a small disk can not be mounted here`);
  fleet.defer(() => command("umount", ["-l", stateDir]));

  const port = await freePort();
  const control = await fleet.controlPlane({ port });
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${port}`, {
    stateDir,
    lastGood: { enabled: true, maxAgeSecs: 86_400 },
    history: { spoolMaxRecords: 50_000, spool: "disk" },
  });
  await worker.open().then(ready);
  await until("there is a last good file", () => existsSync(join(stateDir, "last-good")));

  const filler = join(stateDir, "filler");
  await writeFile(filler, Buffer.alloc(4 * 1024 * 1024)).catch(() => {});
  const revision = await control.admin.editGroup({ maxRows: 1_000_000 });
  await activeAt(worker, revision);
  const told = await until(
    "the status tells of the full disk",
    async () => (await statusOf(worker)).lastGood.lastError ?? false,
  );
  same(told, "ENOSPC", "lastGood.lastError");

  const ledger = await openLedger(worker);
  ledger.start();
  await until("queries go on", () => ledger.count > 200);
  const spoolTold = await until(
    "the status tells of the spool",
    async () => (await statusOf(worker)).historyUplink.diskError ?? false,
  );
  same(spoolTold, "ENOSPC", "historyUplink.diskError");
  await ledger.stop();
  await ledger.settled();
  same(ledger.failures, [], "queries that failed");
  const { queries } = await ledger.judge(await recordsOf(control));
  fleet.figure(`${queries} queries on a full disk, each with one record; ${told} in the status`);
  // The judge asked the worker twice more; a kill before those records are sent loses them, and says so.
  const wanted = ledger.sent.size + 3;
  await until("its own questions are sent too", async () => {
    const { queued, sent } = (await statusOf(worker)).historyUplink;
    return queued === 0 && sent >= wanted;
  });

  await worker.kill();
  await control.stop();
  await rm(filler);
  worker.restart();
  await worker.open().then(ready);
  const status = await statusOf(worker);
  same(status.configSource, "disk", "source after the restart");
  same(status.historyUplink.dropped, 0, "records lost after the restart");
}
