/** A worker with another fleet's secret: it is told so once, waits, and learns nothing. */
import { freePort } from "../fleet.mjs";
import { ready, readyStatus, statusOf } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "a worker with a wrong secret says so clearly, backs off and is let in with the right one";

const refusalsWatched = 6;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  let answers = 0;
  const relay = await fleet.relay(control.port, {
    answer: (_asked, { status }) => {
      if (status === 401 || status === 429) answers += 1;
    },
  });
  const auth = {
    mode: "sharedSecret",
    sharedSecret: "another fleet's secret, long enough to be one",
  };
  const peers = { address: `127.0.0.1:${await freePort()}`, afterSecs: 60, scheme: "http" };
  const worker = await fleet.worker("w1", relay.url, { link: { auth, peerBootstrap: peers } });
  await worker.open();
  const fromMs = performance.now();
  await until("it was refused a few times", () => answers >= refusalsWatched, 60);
  const seconds = (performance.now() - fromMs) / 1000;
  const judge = async (one) => {
    const { lastError } = await statusOf(one);
    check(/secret/.test(lastError ?? ""), "the status does not name the secret");
    same(await readyStatus(one), 503, "/readyz");
  };
  same(worker.events("worker.linkSecretRefused").length, 1, "log lines about the secret");
  await judge(worker);
  fleet.figure(`${answers} refused calls in ${seconds.toFixed(1)} s`);

  // One rotates secrets by a list of two; the worker finds the one that fits.
  const both = { ...auth, sharedSecret: [auth.sharedSecret, fleet.secret] };
  const rotated = await fleet.worker("w2", relay.url, { link: { auth: both } });
  await rotated.open().then((each) => ready(each, 60));
  await notices("a worker that was let in", () => judge(rotated), /does not name the secret/);
}
