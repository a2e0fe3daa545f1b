/** I8: what is secret is nowhere but where it has to be. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { askMysql, askPg, askTrino } from "../ask.mjs";
import { command } from "../../real/command.mjs";
import { servingConfig } from "../fleet.mjs";
import { recordsOf } from "../ledger.mjs";
import { metricsText, ready } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "secrets, passwords and masked literals are in no log, metric, status, record or file (I8)";

const literal = "canary-literal-4711";
const userPassword = "canary-password-0815";
const bearer = "canary-bearer-2342";

export async function run(fleet) {
  const hashed = await passwordHash(userPassword);
  const users = { alice: { passwordHash: hashed } };
  const control = await fleet.controlPlane({
    config: { ...servingConfig, auth: { provider: "static", staticUsers: { users } } },
    history: { redaction: "maskLiterals" },
  });
  await control.open();
  const stateDir = await fleet.folder("state");
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, {
    stateDir,
    logLevel: "debug",
    lastGood: { enabled: true, maxAgeSecs: 86_400 },
    history: { spoolMaxRecords: 50_000, spool: "disk" },
  });
  await worker.open().then(ready);

  const login = { password: userPassword };
  same(await askPg(worker, `select '${literal}'`, login), literal, "an answer");
  const texts = [
    `select '${literal}'::integer`,
    `select * from nowhere where a = '${literal}' /* ${literal} */`,
    `select 'open ${literal}`,
    `selekt '${literal}' frm`,
    `select $$${literal}$$, e'${literal}', x.y from z`,
  ];
  for (const sql of texts) await askPg(worker, sql, login);
  await askPg(worker, "select 1", { password: `${userPassword}-wrong` });
  // In this dialect double quotes make a text.
  same(await askMysql(worker, `select "${literal}"`, login), literal, "an answer of MySQL");
  await askTrino(worker, `select '${literal}'`);
  await fetch(`${worker.url}/worker/peer-config`, {
    headers: { authorization: `Bearer ${bearer}` },
  });

  const records = await until("every record is kept", async () => {
    const found = await recordsOf(control);
    return found.length === texts.length + 2 && found;
  });
  const places = {
    "the history": JSON.stringify(records),
    "a worker's status": await (await fetch(`${worker.url}/worker/status`)).text(),
    "a worker's metrics": await metricsText(worker),
    "a worker's log": worker.text,
    "the control plane's metrics": await metricsText(control),
    "the control plane's log": control.text,
    "the registry": JSON.stringify(await control.admin.all("/admin/workers")),
    "the configuration as shown": JSON.stringify(await control.admin.got("/admin/config/export")),
    "the state folder": await filesOf(stateDir),
    "the process list": (await command("ps", ["-eo", "args"])).stdout,
  };
  const canaries = { literal, userPassword, bearer, secret: fleet.secret, admin: fleet.password };
  const judge = (searched) => {
    const found = Object.entries(searched).flatMap(([place, text]) =>
      Object.entries(canaries)
        .filter(([, canary]) => text.includes(canary))
        .map(([name]) => `${name} in ${place}`),
    );
    same(found, [], "canaries found");
  };
  judge(places);
  for (const [place, text] of Object.entries(places)) {
    check(text.length > 0, `nothing was read of ${place}`);
    const name = Object.keys(canaries)[text.length % Object.keys(canaries).length];
    const planted = { ...places, [place]: text + canaries[name] };
    await notices(`${name} in ${place}`, () => judge(planted), /canaries found/);
  }
  fleet.figure(`5 canaries, ${Object.keys(places).length} places, ${records.length} records`);
}

async function passwordHash(password) {
  const program = new URL("../../../packages/gateway/dist/gateway.js", import.meta.url).pathname;
  const made = await command(process.execPath, [program, "hash-password"], {
    input: `${password}\n`,
  });
  const hash = /\$2[aby]\$\S+/.exec(made.stdout)?.[0];
  check(hash !== undefined, `no hash: ${made.stdout}${made.stderr}`);
  return hash;
}

async function filesOf(folder) {
  const names = await until("files are in the state folder", async () => {
    const found = await readdir(folder);
    return found.length > 0 && found;
  });
  const texts = await Promise.all(
    names.map((name) => readFile(join(folder, name), "latin1").catch(() => "")),
  );
  return texts.join("\n");
}
