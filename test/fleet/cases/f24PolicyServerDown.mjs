/**
 * F24: the policy server is down, silent, slow or answers nonsense, and its policy changes. Nobody sees a table for
 * that, no decision is used beyond its age, and a server that is away makes none younger.
 */
import bcrypt from "bcryptjs";
import { askMysql, askPg } from "../ask.mjs";
import { startEngine } from "../engine.mjs";
import { servingConfig } from "../fleet.mjs";
import { ready } from "../ops.mjs";
import { rigOf } from "../rigs.mjs";
import { check, notices, same, sameInSomeOrder } from "../wait.mjs";

export const title =
  "F24: a policy server that is down, slow or changes its mind shows nothing it does not allow (I5, I10)";

const moods = ["silent", "nonsense", "failing", "redirecting", "huge"];
const password = "a password of the case";
const codes = { shown: "1", denied: "42501", unavailable: "57P03" };

export async function run(fleet) {
  const { FakePolicyServer } = await rigOf("test/fake/policyServer.ts");
  const policy = await FakePolicyServer.start();
  fleet.defer(() => policy[Symbol.asyncDispose]());
  const link = await fleet.proxy(Number(new URL(policy.url).port));
  const engine = await startEngine(fleet);
  const worker = await workerOf(fleet, engine, link.url);
  const says = (allow) => (policy.says = { result: { allow } });
  // A question of its own for each: a decision that is remembered is one about a table.
  const shown = [];
  const ask = async (table) => {
    const answer = await askPg(worker, `select count(*) as n from main.${table}`, {
      password,
    });
    if (answer === codes.shown) shown.push(table);
    return answer;
  };

  says(true);
  same(await ask("orders"), codes.shown, "a table that is allowed");
  says(false);
  same(await ask("margins"), codes.denied, "a table that is not");
  for (const mood of moods) {
    says(true);
    policy.mood = mood;
    await worker.age();
    same(await ask(`of_${mood}`), codes.unavailable, `${mood}: a table`);
    policy.mood = "well";
    await worker.age();
    same(await ask(`after_${mood}`), codes.shown, `after ${mood}: the table`);
  }
  await link.cut();
  await worker.age();
  same(await ask("of_nobody"), codes.unavailable, "down: a table");
  const onMysql = await askMysql(worker, "select count(*) from main.of_nobody", { password });
  same(onMysql, "1429", "down: a table, over MySQL");
  same(await ask("after_failing"), codes.unavailable, "down: a table whose decision is too old");
  await link.heal();

  // The policy takes a table back. A decision lives for its seconds and not longer.
  await worker.age();
  same(await ask("orders"), codes.shown, "a table that is allowed again");
  says(false);
  await worker.age();
  same(await ask("orders"), codes.denied, "a table that was taken back");
  check(policy.asked.length >= moods.length * 2, "the server was not asked");

  // The gateway itself asks what tables there are.
  const judge = () => {
    const ran = engine.statements
      .map(({ sql }) => /count\(\*\).*\bmain\W+(\w+)/i.exec(sql)?.[1])
      .filter((table) => table !== undefined);
    sameInSomeOrder(ran, shown, "tables that the engine was asked for (I5)");
  };
  judge();
  fleet.figure(`${moods.length + 1} ways to fail and a policy that changed; ${shown.length} shown`);
  const past = "select count(*) from main.margins";
  // What reached the engine and was not shown to anybody: what the judge must not let pass.
  await fetch(`${engine.url}/v1/statement`, { method: "POST", body: past });
  await notices("a statement past the policy", judge, /I5/);
}

async function workerOf(fleet, engine, url) {
  const opa = { url, api: "data", path: "gateway/decision", timeoutMs: 4_000, cacheTtlMs: 5_000 };
  const users = { alice: { passwordHash: await bcrypt.hash(password, 4) } };
  const config = {
    ...servingConfig,
    auth: { provider: "static", staticUsers: { users } },
    clusters: { local: { engine: "trino", endpoint: engine.url } },
    accessControl: { provider: "opa", defaultSchema: "main", opa },
  };
  const control = await fleet.controlPlane({ config });
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, { ages: true });
  await worker.open().then(ready);
  return worker;
}
