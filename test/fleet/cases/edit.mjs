/** The promise of the product: what is written at the control plane, the next query on every worker feels. */
import { askPg, askMysql, askTrino, cellOf, mysqlCell, mysqlClient, pgClient } from "../ask.mjs";
import { activeAt, ready, statusOf } from "../ops.mjs";
import { check, notices, same, timed } from "../wait.mjs";

export const title = "an edit is felt by the next query on two workers, over three protocols";

const twoRows = "select * from range(2)";

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const workers = await Promise.all(["w1", "w2"].map((name) => fleet.worker(name, url)));
  await Promise.all(workers.map((worker) => worker.open().then(ready)));
  const before = await Promise.all(workers.map(statusOf));
  for (const status of before) {
    same([status.configSource, status.stale], ["controlPlane", false], "the status");
  }

  for (const worker of workers) {
    const open = { pg: await pgClient(worker), mysql: await mysqlClient(worker) };
    fleet.defer(() => {
      open.mysql.destroy();
      return open.pg.end().catch(() => {});
    });
    worker.connected = open;
    same(await cellOf(open.pg, twoRows), "0", "pg before the edit");
    same(await mysqlCell(open.mysql, twoRows), "0", "mysql before the edit");
    same(await askTrino(worker, twoRows), "0", "trino before the edit");
  }

  // Before the edit nobody feels it: what the judge must not let pass.
  await notices("an edit that nobody made", () => judge(workers[0]), /after the edit/);
  const revision = await control.admin.editGroup({ maxRows: 1 });
  const arrivals = await Promise.all(workers.map((each) => timed(() => activeAt(each, revision))));
  fleet.figure(`activated ${arrivals.map(({ ms }) => ms).join(" and ")} ms after the answer`);

  for (const worker of workers) await judge(worker);
}

async function judge(worker) {
  const { pg, mysql } = worker.connected;
  const codes = {
    pg: await askPg(worker, twoRows),
    openPg: await cellOf(pg, twoRows).catch(({ code }) => code),
    mysql: await askMysql(worker, twoRows),
    openMysql: await mysqlCell(mysql, twoRows).catch(({ errno }) => String(errno)),
    trino: await askTrino(worker, twoRows),
  };
  same([codes.pg, codes.openPg], ["54000", "54000"], `${worker.name}: pg after the edit`);
  check(codes.mysql === codes.openMysql && codes.mysql !== "0", `mysql: ${codes.mysql}`);
  check(/^[A-Z_]+$/.test(codes.trino), `${worker.name}: trino answers ${codes.trino}`);
  same(await askPg(worker, "select 42"), "42", "one row is still allowed");
}
