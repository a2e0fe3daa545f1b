/** F4: the database of one replica falls silent. It serves what it built last, and does not make it younger. */
import { embeddedPrograms, startPostgres } from "../../real/postgresServer.mjs";
import { Skip, freePort } from "../fleet.mjs";
import { activeAt, metricOf, ready, statusOf } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "F4: the database is too slow for a build: the last one is served, at its true age (I6)";

/** A build is given up after ten seconds. */
const underWayMs = 4_000;

export async function run(fleet) {
  const { folder, reason } = await embeddedPrograms();
  if (folder === undefined) throw new Skip(reason);
  const server = await startPostgres(folder);
  fleet.defer(() => server.stop());
  const slow = await fleet.proxy(server.port);
  const persistence = (port) => ({
    type: "postgres",
    url: server.url.replace(`:${server.port}/`, `:${port}/`),
    encryptionKey: "an encryption key of this test alone",
  });
  const behind = await fleet.controlPlane({
    name: "behind",
    port: await freePort(),
    persistence: persistence(slow.port),
  });
  await behind.open();
  const ahead = await fleet.controlPlane({
    name: "ahead",
    port: await freePort(),
    persistence: persistence(server.port),
  });
  await ahead.open();
  const early = await fleet.worker("w1", `http://127.0.0.1:${behind.port}`);
  await early.open().then(ready);
  const before = (await statusOf(early)).activeRevision;

  const stalledAt = Date.now();
  slow.stall({ toClient: true });
  const revision = await ahead.admin.editGroup({ maxRows: 1 });
  await until(
    "the replica gives up a build",
    async () => (await metricOf(behind, "gateway_config_reload_failures_total")) > 0,
    60,
  );
  const late = await fleet.worker("w2", `http://127.0.0.1:${behind.port}`);
  await late.open().then(ready);
  const status = await statusOf(late);
  same(status.activeRevision, before, "what a replica without a database serves");
  // What was under way may have been read a moment later; one that is made younger is by all that passed since.
  const judgeAge = (confirmedAt) =>
    check(Date.parse(confirmedAt) <= stalledAt + underWayMs, `confirmed at ${confirmedAt}`);
  judgeAge(status.confirmedAt);
  await notices("a copy that is made younger", () => judgeAge(new Date()), /confirmed at/);

  await slow.heal();
  await Promise.all([early, late].map((worker) => activeAt(worker, revision, 60)));
}
