/** Open Policy Agent, built once from the Go module proxy, and Cerbos, from npm: started on free ports with policies as text. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "./command.mjs";

const opaVersion = "v1.22.3";
const cerbosVersion = "0.51.0";
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const opaProgram = join(cache, `opa-${opaVersion}`);
const cerbosFolder = join(cache, `cerbos-${cerbosVersion}`);
const cerbosName = `cerbos-${process.platform}-${process.arch}`;
const cerbosProgram = join(cerbosFolder, "node_modules", "@cerbos", cerbosName, cerbosName);
/** A minute or two on two cores that do nothing else. */
const buildSeconds = 900;
const startTries = 300;

/** Whether the one that is built was built before, which is what takes long. */
export const isOpaBuilt = () => existsSync(opaProgram);

/** True, or the reason why they can not be had. */
export async function installPolicyServers() {
  await mkdir(cache, { recursive: true });
  const opa = await installOpa();
  return opa === true ? await installCerbos() : opa;
}

async function installOpa() {
  if (isOpaBuilt()) return true;
  if ((await command("go", ["version"])).code !== 0) return "there is no go";
  // Beside the place where it belongs, so that it can be moved there whole.
  const folder = await mkdtemp(join(cache, "opa-build-"));
  try {
    const args = ["install", `github.com/open-policy-agent/opa@${opaVersion}`];
    const built = await command("go", args, { env: { GOBIN: folder }, seconds: buildSeconds });
    if (built.code !== 0) return `go install failed: ${lastLine(built.stderr)}`;
    await rename(join(folder, "opa"), opaProgram);
    return true;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function installCerbos() {
  if (existsSync(cerbosProgram)) return true;
  const args = ["install", "--prefix", cerbosFolder, "--no-save", `cerbos@${cerbosVersion}`];
  const installed = await command("npm", args, { seconds: 240 });
  if (installed.code !== 0) return `npm failed: ${lastLine(installed.stderr)}`;
  return existsSync(cerbosProgram) || "there is no cerbos for this machine";
}

/** `modules`: texts of Rego. Answers `{url, pid, stop}` of a server that answers. */
export async function startOpa(modules) {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "gateway-opa-"));
  const files = modules.map((_, index) => join(folder, `policy${index}.rego`));
  await Promise.all(modules.map((text, index) => writeFile(files[index], text)));
  const args = ["run", "--server", "--addr", `127.0.0.1:${port}`, "--log-level", "error"];
  const more = ["--skip-version-check", ...files];
  return await started(opaProgram, [...args, ...more], { folder, port, health: "/health" });
}

/** `policies`: the texts of resource policies. */
export async function startCerbos(policies) {
  const [port, grpcPort] = [await freePort(), await freePort()];
  const folder = await mkdtemp(join(tmpdir(), "gateway-cerbos-"));
  await mkdir(join(folder, "policies"));
  const files = policies.map((_, index) => join(folder, "policies", `policy${index}.yaml`));
  await Promise.all(policies.map((text, index) => writeFile(files[index], text)));
  const config = {
    server: { httpListenAddr: `127.0.0.1:${port}`, grpcListenAddr: `127.0.0.1:${grpcPort}` },
    telemetry: { disabled: true },
    storage: { driver: "disk", disk: { directory: "policies" } },
  };
  // JSON is YAML.
  await writeFile(join(folder, "config.yaml"), JSON.stringify(config));
  const args = ["server", "--config", "config.yaml"];
  return await started(cerbosProgram, args, { folder, port, health: "/_cerbos/health" });
}

async function started(program, args, { folder, port, health }) {
  const url = `http://127.0.0.1:${port}`;
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
  for (let tries = 0; !(await isWell(url + health)); tries += 1) {
    if (tries === startTries || child.exitCode !== null) {
      child.kill("SIGKILL");
      throw new Error(`${program} did not start: ${log}`);
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
    return (await fetch(url)).ok;
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

function lastLine(text) {
  return text.trim().split("\n").at(-1) ?? "";
}
