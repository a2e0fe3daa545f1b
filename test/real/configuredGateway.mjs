/** A gateway on a configuration of its own, as a program. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command, expectCode } from "./command.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const startSeconds = 180;
const logMax = 200_000;

/** A listener on loopback whose port is chosen free. */
export const freePlace = { host: "127.0.0.1", port: 0 };

/**
 * Starts it; answers `{ports, folder, pid, lines, stop}`, the ports by frontend; `lines` are the last of its log. `configIn` makes the configuration, and what
 * belongs to it, in a folder that is gone with the gateway. `env` is added to its environment.
 */
export async function startConfigured(configIn, env = {}) {
  const folder = await mkdtemp(join(tmpdir(), "gateway-configured-"));
  const file = join(folder, "gateway.json");
  await writeFile(file, JSON.stringify(await configIn(folder)));
  const program = `${root}packages/gateway/bin/gateway.mjs`;
  const child = spawn(process.execPath, [program, "start", "--config", file], {
    cwd: root,
    env: { ...process.env, ...env },
  });
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  let log = "";
  for (const output of [child.stdout, child.stderr]) {
    output.on("data", (chunk) => {
      log = `${log}${chunk}`.slice(-logMax);
    });
  }
  const lines = () => log.split("\n");
  const stop = async () => {
    if (child.exitCode === null) child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { ports: await portsOf(child), folder, pid: child.pid, lines, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts one with every frontend before one cluster, with TLS for who wants it; nobody is asked who they are. */
export function startBefore(cluster, env) {
  return startConfigured(async (folder) => {
    const encrypted = { ...freePlace, tls: await certificateIn(folder) };
    return {
      gateway: {
        frontends: { postgresWire: encrypted, mysqlWire: encrypted, trinoHttp: freePlace },
        adminApi: freePlace,
        persistence: { type: "inMemory" },
      },
      clusters: { behind: cluster },
      clusterGroups: { default: { members: ["behind"], maxRunningQueries: 16 } },
      routingFallback: "default",
      auth: { provider: "none" },
    };
  }, env);
}

/** A certificate for 127.0.0.1 that signs itself; answers what `tls` of a listener takes. */
export async function certificateIn(folder) {
  const asked =
    "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem";
  expectCode(await command("openssl", asked.split(" "), { cwd: folder }));
  return { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
}

/** From the log: one line per listener, the admin API's last. */
function portsOf(child) {
  return new Promise((resolve, reject) => {
    let text = "";
    const fail = (why) => reject(new Error(`${why}:\n${text}`));
    const limit = setTimeout(() => fail("no listener in time"), startSeconds * 1000);
    child.on("close", (code) => fail(`ended with ${code}`));
    const read = (chunk) => {
      text = `${text}${chunk}`.slice(-100_000);
      const found = [...text.matchAll(/"kind":"(\w+)","address":"[^"]*","port":(\d+)/g)];
      const ports = Object.fromEntries(found.map(([, kind, port]) => [kind, port]));
      if (ports.adminApi === undefined) return;
      clearTimeout(limit);
      resolve(ports);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
  });
}
