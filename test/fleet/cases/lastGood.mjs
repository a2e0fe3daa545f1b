/** The whole fleet was off; everything but its own disks is dead. */
import { askPg } from "../ask.mjs";
import { ready, statusOf } from "../ops.mjs";
import { notices, same, until } from "../wait.mjs";

export const title = "a whole fleet starts from its disks with everything else dead";

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const workers = await Promise.all(
    ["w1", "w2", "w3"].map(async (name) =>
      fleet.worker(name, url, {
        stateDir: await fleet.folder(`state-${name}`),
        lastGood: { enabled: true, maxAgeSecs: 86_400 },
      }),
    ),
  );
  await Promise.all(workers.map((worker) => worker.open().then(ready)));
  const { activeRevision } = await statusOf(workers[0]);
  const codes = await Promise.all(workers.map((worker) => worker.stop()));
  same(codes, [0, 0, 0], "exit codes");
  await control.kill();

  // Alone first, because three at once share the machine.
  const [alone, ...others] = workers;
  alone.restart();
  await alone.open().then(ready);
  fleet.figure(
    `alone: ready ${Math.round(performance.now() - alone.startedMs)} ms after its start`,
  );
  for (const worker of others) worker.restart();
  await Promise.all(others.map((worker) => worker.open().then(ready)));
  const judge = async (worker) => {
    const status = await statusOf(worker);
    same([status.configSource, status.stale], ["disk", true], `${worker.name}: source, stale`);
    same(status.activeRevision, activeRevision, `${worker.name}: the revision`);
  };
  for (const worker of workers) {
    await judge(worker);
    same(await askPg(worker, "select 42"), "42", `${worker.name}: an answer`);
  }

  control.restart();
  await control.open();
  for (const worker of workers) {
    await until(`${worker.name} is confirmed`, async () => !(await statusOf(worker)).stale, 60);
    await notices("a worker that was confirmed", () => judge(worker), /source, stale/);
  }
}
