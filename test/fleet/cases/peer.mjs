/** A worker that starts while the control plane is dead copies the configuration of another one. */
import { askPg } from "../ask.mjs";
import { freePort } from "../fleet.mjs";
import { metricOf, ready, statusOf } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "a worker starts from a peer while the control plane is dead, and is stale until it answers";

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const peerOf = (port) => ({
    peerBootstrap: {
      address: `127.0.0.1:${port}`,
      afterSecs: 1,
      maxAgeSecs: 86_400,
      scheme: "http",
    },
  });
  const first = await fleet.worker("w1", url, { link: peerOf(await freePort()) });
  await first.open().then(ready);
  const { activeRevision, confirmedAt } = await statusOf(first);
  await control.kill();

  const second = await fleet.worker("w2", url, { link: peerOf(first.ports.adminApi) });
  await second.open().then(ready);
  fleet.figure(`ready ${Math.round(performance.now() - second.startedMs)} ms after its start`);
  const judge = ({ configSource, stale }) =>
    same([configSource, stale], ["peer", true], "source, stale");
  const copied = await statusOf(second);
  judge(copied);
  same(copied.activeRevision, activeRevision, "the revision");
  check(
    Date.parse(copied.confirmedAt) >= Date.parse(confirmedAt),
    "the copy is older than the first",
  );
  same(await metricOf(second, "gateway_worker_config_stale"), 1, "gateway_worker_config_stale");
  same(await askPg(second, "select 42"), "42", "an answer");

  // A chain: the copy of a copy is as old as the first.
  const third = await fleet.worker("w3", url, { link: peerOf(second.ports.adminApi) });
  await third.open().then(ready);
  same((await statusOf(third)).confirmedAt, copied.confirmedAt, "age of the copy's copy");

  control.restart();
  await control.open();
  for (const worker of [second, third]) {
    await until(`${worker.name} is confirmed`, async () => !(await statusOf(worker)).stale, 60);
    const status = await statusOf(worker);
    same(status.configSource, "controlPlane", `${worker.name}: the source`);
    await notices("a worker that was confirmed", () => judge(status), /source, stale/);
    same(await metricOf(worker, "gateway_worker_config_stale"), 0, "gateway_worker_config_stale");
  }
}
