/** `npm run fleet` as a user runs it: what it prints can be pasted, and Ctrl-C ends everything. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { askPg } from "../ask.mjs";
import { adminAt } from "../admin.mjs";
import { check, same, until, within } from "../wait.mjs";

export const title =
  "the demo fleet prints what can be pasted, shows an edit arrive, and ends with Ctrl-C";

const program = fileURLToPath(
  new URL("../../../packages/gateway/dist/gateway.js", import.meta.url),
);

export async function run(fleet) {
  const child = spawn(process.execPath, [program, "fleet"], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  // By a signal that lets it end its own children.
  fleet.defer(() => child.exitCode === null && child.kill("SIGTERM") && ended);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      text += chunk;
    });
  }
  await until("it is ready", () => text.includes("Ctrl-C stops") || child.exitCode !== null, 90);
  const arrivals = [...text.matchAll(/(w\d) runs under it (\d+) ms/g)];
  same(
    arrivals.map(([, name]) => name),
    ["w1", "w2"],
    `edits that arrived (${text})`,
  );
  fleet.figure(`the edit arrived after ${arrivals.map(([, , ms]) => ms).join(" and ")} ms`);

  const pasted = [
    ...text.matchAll(/psql "host=127\.0\.0\.1 port=(\d+) user=\$USER" -c "([^"]+)"/g),
  ];
  same(pasted.length, 2, "commands for psql");
  for (const [, port, sql] of pasted) {
    const country = await askPg({ ports: { postgresWire: Number(port) } }, sql);
    check(/^[A-Z]{2}$/.test(country), `${sql}: ${country}`);
  }
  const [, login, url] = /curl -u admin:(\S+) (http:\S+)\/admin\/workers/.exec(text);
  const admin = adminAt(url, login, "admin");
  same((await admin.all("/admin/workers")).length, 2, "workers in the registry");

  const [, folder] = /'(\S*gateway-fleet-[^/]+)\/data/.exec(text);
  child.kill("SIGINT");
  same(await within("it ends", ended, 40), 0, "exit code");
  same(existsSync(folder), false, "its folder is still there");
  const down = await fetch(`${url}/health`).then(
    () => false,
    () => true,
  );
  check(down, "the control plane still runs");
}
