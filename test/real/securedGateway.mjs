/** A gateway that asks for passwords and has a certificate, with one embedded DuckDB behind it. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashSync } from "bcryptjs";
import { command, expectCode } from "./command.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const startSeconds = 60;

/** Starts it; alice's password is alice-secret. Answers `{ports, caFile, stop}`, the ports by frontend. */
export async function startSecuredGateway() {
  const folder = await mkdtemp(join(tmpdir(), "gateway-secured-"));
  const certFile = join(folder, "cert.pem");
  const tls = { certFile, keyFile: join(folder, "key.pem") };
  const asked =
    "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem";
  expectCode(await command("openssl", asked.split(" "), { cwd: folder }));
  const file = join(folder, "gateway.json");
  await writeFile(file, JSON.stringify(configOf(tls)));
  const program = `${root}packages/gateway/bin/gateway.mjs`;
  const child = spawn(process.execPath, [program, "start", "--config", file], { cwd: root });
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  const stop = async () => {
    if (child.exitCode === null) child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { ports: await portsOf(child), caFile: certFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configOf(tls) {
  const listener = { host: "127.0.0.1", port: 0 };
  const alice = { passwordHash: hashSync("alice-secret", 6) };
  return {
    gateway: {
      frontends: { mysqlWire: { ...listener, tls } },
      adminApi: listener,
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "static", staticUsers: { users: { alice } } },
  };
}

/** From the log: one line per listener, the admin API's last. */
function portsOf(child) {
  return new Promise((resolve, reject) => {
    let text = "";
    const fail = (why) => reject(new Error(`${why}:\n${text}`));
    const limit = setTimeout(() => fail("no listener in time"), startSeconds * 1000);
    child.on("close", (code) => fail(`ended with ${code}`));
    const read = (chunk) => {
      text += chunk;
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
