/** I5: an identity mode that is not built never becomes the service account, whichever way it comes. */
import { askPg, askTrino } from "../ask.mjs";
import { startEngine } from "../engine.mjs";
import { signed, snapshotIn } from "../forge.mjs";
import { ready, rejections, statusOf } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "no statement reaches an engine as the service account under another mode (I5)";
export const usualSeconds = 30;

const modes = ["passthrough", "impersonate", "tokenExchange"];

export async function run(fleet) {
  const engine = await startEngine(fleet);
  const cluster = (type) => ({
    engine: "trino",
    endpoint: engine.url,
    user: "service-account",
    queryAuth: { type },
  });
  const control = await fleet.controlPlane();
  await control.open();
  for (const mode of modes) {
    const put = await control.admin.ask("PUT", "/admin/clusters/other", cluster(mode), {
      "if-none-match": "*",
    });
    check(
      put.status >= 400 && put.status < 500,
      `${mode}: the control plane answers ${put.status}`,
    );
  }

  // As somebody with the fleet secret could write it, or a control plane of another release.
  const forged = { type: undefined };
  const relay = await fleet.relay(control.port, {
    answer: ({ path }, good) => {
      if (path !== "/worker/config" || good.status !== 200 || forged.type === undefined) return;
      const { head, body } = snapshotIn(good);
      const clusters = { ...body.clusters, local: cluster(forged.type) };
      return signed(good, { head, body: { ...body, clusters } }, fleet.secret);
    },
  });
  const worker = await fleet.worker("w1", relay.url);
  await worker.open().then(ready);
  for (const mode of modes) {
    forged.type = mode;
    const { activeRevision } = await statusOf(worker);
    const before = await rejections(worker);
    await control.admin.editGroup({ maxQueuedQueries: 10 + modes.indexOf(mode) });
    await until(`${mode}: refused`, async () => (await rejections(worker)) > before);
    const status = await statusOf(worker);
    same(status.activeRevision, activeRevision, `${mode}: the active revision`);
    check(status.lastError?.includes("queryAuth"), `${mode}: the reason is ${status.lastError}`);
    same(await askPg(worker, "select 42"), "42", `${mode}: the old configuration`);
  }

  // One that has nothing else serves nothing.
  const fresh = await fleet.worker("w2", relay.url);
  await fresh.open();
  await until("the new worker refused it", async () => (await rejections(fresh)) > 0);
  same(await askPg(fresh, "select 1"), "57P03", "a worker without a configuration");
  const trino = await askTrino(fresh, "select 1");
  check(trino !== "1", `over HTTP it answers ${trino}`);
  const judge = () => same(engine.statements.length, 0, "statements at the engine (I5)");
  judge();
  // One as the service account: what the judge must not let pass.
  const headers = { "x-trino-user": "service-account" };
  await fetch(`${engine.url}/v1/statement`, {
    method: "POST",
    headers,
    body: "select '1 ms past'",
  });
  await notices("a statement of the service account", judge, /I5/);
  fleet.figure(`${modes.length} modes, refused as a write and as a snapshot; 0 statements`);
}
