/** What others put between a client and a server, where the machine has it: rows beside ours in the same run. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../fleet/fleet.mjs";
import { pinMeasured } from "./processes.mjs";

const host = "127.0.0.1";
const environment = { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin` };
const tries = 100;

/** HAProxy with one thread, as a relay of `http` or `tcp`; undefined where it is not installed. */
export async function haproxy(kind, target) {
  if (spawnSync("haproxy", ["-v"], { env: environment }).status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "gateway-bench-haproxy-"));
  const file = join(folder, "haproxy.cfg");
  const port = await freePort();
  const settings = [
    "global",
    "  nbthread 1",
    "defaults",
    `  mode ${kind}`,
    "  timeout connect 5s",
    "  timeout client 600s",
    "  timeout server 600s",
    ...(kind === "http" ? ["  http-reuse always"] : []),
    "listen one",
    `  bind ${host}:${port}`,
    `  server engine ${host}:${target}`,
    "",
  ];
  writeFileSync(file, settings.join("\n"));
  const child = spawn("haproxy", ["-db", "-f", file], { env: environment, stdio: "ignore" });
  pinMeasured(child.pid);
  await listens(port);
  const stop = () => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  };
  return { port, pid: child.pid, stop };
}

async function listens(port) {
  for (let left = tries; ; left -= 1) {
    const socket = connect({ host, port });
    const isOpen = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    if (left === 0) throw new Error(`nobody listens on ${port}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}
