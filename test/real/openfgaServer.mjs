/** OpenFGA with its relations in memory, built once from the Go module proxy and started on free ports. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "./command.mjs";

const version = "v1.22.1";
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const program = join(cache, `openfga-${version}`);
/** Some three minutes on two cores that do nothing else. */
const buildSeconds = 900;
const startTries = 200;

/** The key that the server is preset with. */
export const openFgaKey = "openfga-secret";

/** Whether it was built before, which is what takes long. */
export const isOpenFgaBuilt = () => existsSync(program);

/** True, or the reason why it can not be had. */
export async function installOpenFga() {
  if (isOpenFgaBuilt()) return true;
  if ((await command("go", ["version"])).code !== 0) return "there is no go";
  await mkdir(cache, { recursive: true });
  // Beside the place where it belongs, so that it can be moved there whole.
  const folder = await mkdtemp(join(cache, "openfga-build-"));
  try {
    const args = ["install", `github.com/openfga/openfga/cmd/openfga@${version}`];
    const built = await command("go", args, { env: { GOBIN: folder }, seconds: buildSeconds });
    if (built.code !== 0) return `go install failed: ${built.stderr.trim().split("\n").at(-1)}`;
    await rename(join(folder, "openfga"), program);
    return true;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Answers `{url, pid, stop}` of a server that answers. */
export async function startOpenFga() {
  const [port, grpcPort] = [await freePort(), await freePort()];
  const folder = await mkdtemp(join(tmpdir(), "gateway-openfga-"));
  const args = [
    "run",
    "--datastore-engine=memory",
    `--http-addr=127.0.0.1:${port}`,
    `--grpc-addr=127.0.0.1:${grpcPort}`,
    "--playground-enabled=false",
    "--metrics-enabled=false",
    "--authn-method=preshared",
    `--authn-preshared-keys=${openFgaKey}`,
  ];
  const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  const read = (piece) => {
    log = (log + piece).slice(-4_000);
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; !(await isWell(url)); tries += 1) {
    if (tries === startTries || child.exitCode !== null) {
      child.kill("SIGKILL");
      throw new Error(`OpenFGA did not start: ${log}`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  return {
    url,
    pid: child.pid,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function isWell(url) {
  try {
    return (await fetch(`${url}/healthz`)).ok;
  } catch {
    return false;
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
