/** F10 for copies: clocks that are two hours off. The control plane's word is taken, a copy can not be made younger. */
import { freePort } from "../fleet.mjs";
import { ready, readyStatus, statusOf } from "../ops.mjs";
import { notices, same, until } from "../wait.mjs";

export const title =
  "F10: two hours off either way, a copy is refused and the control plane is not";
export const usualSeconds = 30;

const hours2 = 7_200;
const maxAgeSecs = 3_600;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const peer = await fleet.worker("peer", url, { link: await linkTo(undefined) });
  await peer.open().then(ready);
  const link = await linkTo(peer);
  const workers = await Promise.all(
    [-hours2, hours2].map(async (clockSecs) => {
      const name = clockSecs < 0 ? "slow" : "fast";
      const stateDir = await fleet.folder(`state-${name}`);
      const lastGood = { enabled: true, maxAgeSecs };
      return fleet.worker(name, url, { clockSecs, link, stateDir, lastGood });
    }),
  );
  // What it says to its peers' and disks' readers is its own time; the control plane is believed anyway.
  await Promise.all(workers.map((worker) => worker.open().then(ready)));
  for (const worker of workers) {
    same((await statusOf(worker)).configSource, "controlPlane", `${worker.name}: the source`);
  }

  await Promise.all(workers.map((worker) => worker.stop()));
  await control.kill();
  for (const worker of workers) worker.restart();
  await Promise.all(workers.map((worker) => worker.open()));
  for (const worker of workers) {
    const { lastError } = await until(`${worker.name} looked at its copies`, async () => {
      const status = await statusOf(worker);
      return /peer/.test(status.lastError ?? "") && status;
    });
    await judgeUnready(worker);
    const ofDisk = () =>
      worker.events("worker.configRejected").filter(({ source }) => source === "disk");
    const disk = await until(`${worker.name} tells of its disk`, () => {
      const found = ofDisk();
      return found.length > 0 && found;
    });
    same(disk.length, 1, `${worker.name}: log lines about its own disk's copy`);
    fleet.figure(`${worker.name}: ${disk[0].reason}; ${lastError}`);
  }

  control.restart();
  await control.open();
  await Promise.all(workers.map((worker) => ready(worker, 60)));
  for (const worker of workers) {
    await notices("a worker that serves", () => judgeUnready(worker), /ready with a copy/);
  }
}

async function judgeUnready(worker) {
  same(await readyStatus(worker), 503, `${worker.name}: ready with a copy of another time`);
}

async function linkTo(peer) {
  const port = peer?.ports.adminApi ?? (await freePort());
  return {
    peerBootstrap: { address: `127.0.0.1:${port}`, afterSecs: 1, maxAgeSecs, scheme: "http" },
  };
}
