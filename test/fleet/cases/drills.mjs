/**
 * `gateway drill` against a real fleet: every drill there is, over an engine that keeps a log of its own; every
 * invariant is judged and holds. A fleet without consent is refused, and three planted violations are reported.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import bcrypt from "bcryptjs";
import { mostAtOnce, startEngine } from "../engine.mjs";
import { freePort, servingConfig } from "../fleet.mjs";
import { atNight } from "../night.mjs";
import { ready } from "../ops.mjs";
import { check, same } from "../wait.mjs";

export const title =
  "drills against a fleet hold, one without consent is refused, and what is planted is reported";
export const seconds = 400;

const program = fileURLToPath(
  new URL("../../../packages/gateway/dist/gateway.js", import.meta.url),
);
const cap = 3;
const password = "a password of the case";

export async function run(fleet) {
  atNight("it takes three minutes");
  const engine = await startEngine(fleet);
  const { control, workers } = await openTarget(fleet, engine);
  const remote = await startRemote(fleet, { engine, control, worker: workers[0] });
  const target = ["--target", `http://127.0.0.1:${control.port}`, "--admin", "root"];
  const asked = workers.flatMap(({ ports, url }) => [
    "--worker",
    `http://127.0.0.1:${ports.trinoHttp}`,
    "--metrics",
    `${url}/metrics`,
  ]);
  const sql = ["--sql", "select '{mark}' as {mark}, '40 ms'"];
  const quick = ["--clients", "6", "--hold-secs", "4", "--client", "ann", "--json", ...sql];
  const drill = (...args) => drilled(fleet, [...target, ...quick, ...args]);

  const whole = await drill(
    ...asked,
    "--stop-control",
    remote.command("stop"),
    "--start-control",
    remote.command("start"),
    "--restart-worker",
    remote.command("restart"),
    "--slow-engine",
    remote.command("slow"),
    "--heal-engine",
    remote.command("heal"),
    "--kill-engine",
    remote.command("kill"),
    "--revoke-user",
    "--engine-running",
    remote.command("running"),
    "--cap",
    String(cap),
  );
  same(whole.code, 0, `exit code (${whole.text})`);
  const names = ["controlPlaneAway", "workerRestart", "slowEngine", "engineKilled", "userRevoked"];
  same(
    whole.reports.map((report) => report.drill),
    names,
    "drills that ran",
  );
  for (const { drill: name, findings } of whole.reports) {
    const open = findings.filter(({ kind }) => kind !== "held");
    same(open, [], `${name}: invariants that were not seen to hold`);
    fleet.figure(`${name}: ${findings.map(({ text }) => text).join("; ")}`);
  }
  same(remote.done, ["stop", "start", "restart", "slow", "heal", "kill"], "commands that ran");
  same(mostAtOnce(engine.statements), cap, "most at once by the engine's own log (I4)");
  await judgeTraces(control, names);

  // Planted: an engine that runs one too many, answers that are not what was asked for, a fault that stays.
  const over = await drill(
    ...asked,
    "--restart-worker",
    "true",
    "--engine-running",
    `echo ${cap + 1}`,
    "--cap",
    String(cap),
  );
  same(violatedOf(over), ["cap"], `more than the cap (${over.text})`);
  const lied = await drill(...asked, "--restart-worker", remote.command("lie"));
  check(violatedOf(lied).includes("answers"), `a wrong answer is reported (${lied.text})`);
  const gone = ["--stop-control", remote.command("stop"), "--start-control", "true"];
  const stays = await drill(...asked, ...gone, "--recovery-secs", "10");
  check(violatedOf(stays).includes("recovery"), `a fault that stays is reported (${stays.text})`);
  same([over.code, lied.code, stays.code], [4, 4, 4], "exit codes of violations");
  await refusedWithoutConsent(fleet, drill, { control, asked });
}

async function openTarget(fleet, engine) {
  const passwordHash = await bcrypt.hash(password, 4);
  const config = {
    ...servingConfig,
    clusters: { local: { engine: "trino", endpoint: engine.url, maxRunningQueries: cap } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: cap } },
    auth: { provider: "static", staticUsers: { users: { ann: { passwordHash } } } },
  };
  const control = await fleet.controlPlane({ config, drills: true });
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const workers = await Promise.all(
    ["w1", "w2"].map(async (name) =>
      fleet.worker(name, url, {
        // Where clients and the drill find it again after a restart.
        frontends: { trinoHttp: { host: "127.0.0.1", port: await freePort() } },
        adminApi: { host: "127.0.0.1", port: await freePort() },
        stateDir: await fleet.folder(`state-${name}`),
        coordination: { mode: "controlPlane" },
      }),
    ),
  );
  await Promise.all(workers.map((worker) => worker.open().then(ready)));
  return { control, workers };
}

/** What the operator's commands reach: each is a request to this process, which owns the others. */
async function startRemote(fleet, { engine, control, worker }) {
  const done = [];
  const deeds = {
    stop: () => control.stop(),
    start: () => control.restart().open(),
    restart: () => worker.stop().then(() => worker.restart().open()),
    slow: () => (engine.slowMs = 1_500),
    heal: () => (engine.slowMs = 0),
    kill: () => engine.restart(),
    lie: () => engine.lie(),
  };
  const server = createServer((request, response) => {
    const name = request.url.slice(1);
    if (name === "running") return response.end(String(engine.running));
    done.push(name);
    Promise.resolve(deeds[name]()).then(
      () => response.end(),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  fleet.defer(() => server.close());
  const { port } = server.address();
  const call = (name) =>
    `fetch('http://127.0.0.1:${port}/${name}').then(async (r) => { process.stdout.write(await r.text()); process.exitCode = r.ok ? 0 : 1; })`;
  return { done, command: (name) => `'${process.execPath}' -e "${call(name)}"` };
}

/** Runs the command as a user does; `reports` is what it printed. */
async function drilled(fleet, args) {
  const child = spawn(process.execPath, [program, "drill", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      DRILL_ADMIN_PASSWORD: fleet.password,
      DRILL_CLIENT_PASSWORD: password,
    },
  });
  fleet.defer(() => child.exitCode === null && child.kill("SIGKILL"));
  let printed = "";
  let text = "";
  child.stdout.on("data", (piece) => (printed += piece));
  child.stderr.on("data", (piece) => (text += piece));
  const [code] = await once(child, "close");
  text += printed;
  check(!text.includes(password) && !text.includes(fleet.password), "a password was printed");
  return { code, text, reports: printed === "" ? [] : JSON.parse(printed) };
}

function violatedOf({ reports }) {
  const findings = reports.flatMap((report) => report.findings);
  return findings.filter(({ kind }) => kind === "violated").map(({ invariant }) => invariant);
}

/** Each drill is in the trail, and the user that one of them added is gone while the other is as before. */
async function judgeTraces(control, names) {
  const rows = await control.admin.got("/admin/audit?action=drill");
  const drills = rows.items.map(({ target }) => target.slice("drill/".length));
  same(drills.toReversed(), names, "drills in the trail");
  const { body } = await control.admin.got("/admin/settings/auth");
  same(Object.keys(body.staticUsers.users), ["ann"], "users afterwards");
}

async function refusedWithoutConsent(fleet, drill, { control, asked }) {
  const other = await fleet.controlPlane({ name: "production", frontends: {} });
  await other.open();
  const at = ["--target", `http://127.0.0.1:${other.port}`];
  const refused = await drill(...asked, ...at, "--restart-worker", "touch should-not-be");
  same(refused.code, 1, `a fleet without consent (${refused.text})`);
  check(refused.text.includes("noDrills"), `says why: ${refused.text}`);
  same((await other.admin.got("/admin/audit?action=drill")).items, [], "rows of what was refused");
  await Promise.all([control, other].map((plane) => plane.running && plane.stop()));
}
