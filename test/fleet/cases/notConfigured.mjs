/** Before the first snapshot: clients are taken in, told to come again in their own protocol's words, and served as soon as there is one. */
import { askMysql, askPg, askTrino, trinoStart } from "../ask.mjs";
import { command } from "../../real/command.mjs";
import { freePort } from "../fleet.mjs";
import { ready, readyStatus, statusOf } from "../ops.mjs";
import { check, notices, same, timed } from "../wait.mjs";

export const title = "a worker without a configuration says so in every protocol, then serves";

/** Some seconds in which a configuration may come; a client that waits longer takes the gateway for dead. */
const heldMsMost = 15_000;

export async function run(fleet) {
  const port = await freePort();
  const other = await fleet.controlPlane({ name: "other" });
  const worker = await fleet.worker("w1", `http://127.0.0.1:${port}`);
  await Promise.all([worker.open(), other.open()]);

  const judge = async () => {
    const refusals = [await askPg(worker, "select 1"), await askMysql(worker, "select 1")];
    same(refusals, ["57P03", "1053"], "what clients are told without a configuration");
  };
  same(await readyStatus(worker), 503, "/readyz");
  same((await statusOf(worker)).activeRevision, null, "the active revision");
  await judge();
  const { value: refused, ms } = await timed(() => trinoStart(worker, "select 1"));
  same(refused.status, 503, "HTTP status");
  check(Number(refused.headers.get("retry-after")) >= 1, "Retry-After is missing");
  await refused.arrayBuffer();
  check(ms < heldMsMost, `a new query was held for ${ms} ms`);
  fleet.figure(`a new query over HTTP was held for ${ms} ms`);

  const ports = `${worker.ports.postgresWire},${other.ports.postgresWire}`;
  const hosts = `host=127.0.0.1,127.0.0.1 port=${ports} user=alice dbname=postgres`;
  const psql = await command("psql", ["-XAt", hosts, "-c", "select 42"], { seconds: 20 });
  if (psql.code === 127) fleet.figure("psql is not installed: its next host was not tried");
  else same([psql.code, psql.stdout.trim()], [0, "42"], `libpq's next host (${psql.stderr})`);

  const control = await fleet.controlPlane({ port });
  await control.open();
  await ready(worker, 60);
  same(await askPg(worker, "select 1"), "1", "pg");
  same(await askMysql(worker, "select 1"), "1", "mysql");
  same(await askTrino(worker, "select 1"), "1", "trino");
  await notices("a worker that serves", judge, /without a configuration/);
}
