/** A configuration that the control plane can open and a worker can not: rejected whole, and told where an operator looks. */
import { askPg } from "../ask.mjs";
import { activeAt, ready, rejections, statusOf } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "a snapshot that a worker can not open is rejected whole, counted and reported";

export async function run(fleet) {
  const data = await fleet.folder("data");
  const control = await fleet.controlPlane({ files: { allow: [data] } });
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`);
  await worker.open().then(ready);
  const { activeRevision } = await statusOf(worker);

  const path = "/admin/clusters/local";
  const { body, etag } = await control.admin.ask("GET", path);
  const changed = { ...body.body, allowedDirectories: [data] };
  const put = await control.admin.ask("PUT", path, changed, { "if-match": etag });
  same(put.status, 200, "the control plane takes it");
  await until("it is counted", async () => (await rejections(worker)) > 0);
  const status = await statusOf(worker);
  const judge = (now) => same(now.activeRevision, activeRevision, "the active revision");
  judge(status);
  same(status.downloadedRevision, put.body.revision, "the downloaded revision");
  check(status.lastError.includes("gateway.files.allow"), `the reason: ${status.lastError}`);
  same(await askPg(worker, "select 42"), "42", "the old configuration serves");
  const registered = await until("the registry knows", async () => {
    const [row] = await control.admin.all("/admin/workers");
    return row?.status === "error" && row;
  });
  same(registered.lastError, status.lastError, "the registry's reason");
  same(await rejections(worker), 1, "counted once, not with each heartbeat");

  const mended = { ...changed, allowedDirectories: [] };
  const again = await control.admin.ask("PUT", path, mended, { "if-match": put.etag });
  same(again.status, 200, `the mended one (${JSON.stringify(again.body)})`);
  await activeAt(worker, again.body.revision);
  const taken = await statusOf(worker);
  await notices("a snapshot that is activated", () => judge(taken), /the active revision/);
  await until("the registry is well again", async () => {
    const [row] = await control.admin.all("/admin/workers");
    return row?.status === "active";
  });
}
