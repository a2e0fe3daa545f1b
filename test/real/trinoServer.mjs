/** A Trino server of our own: fetched from Maven once, started on free ports with the catalogs that the cases need. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "./command.mjs";

/** The last version whose server archive is published to Maven repositories. */
const version = "476";
const javaLeast = 24;
const startSeconds = 150;
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const folder = join(cache, "trino");
const home = join(folder, `trino-server-${version}`);
const complete = join(home, ".complete");
const plugins = ["tpch", "memory", "blackhole"];

/** True, or the reason why there is none. */
export async function installTrinoServer() {
  if ((await javaHome()) === undefined) return `there is no JDK ${javaLeast} or newer`;
  if (existsSync(complete)) return true;
  if ((await command("mvn", ["--version"])).code !== 0) return "there is no mvn";
  await mkdir(folder, { recursive: true });
  const args = [
    "-q",
    "-B",
    "dependency:copy",
    `-Dartifact=io.trino:trino-server:${version}:tar.gz`,
    `-DoutputDirectory=${folder}`,
    "-Dmdep.useBaseVersion=true",
  ];
  const copied = await command("mvn", args, { seconds: 600 });
  if (copied.code !== 0) return `mvn failed: ${copied.stdout.trim().split("\n").at(-1)}`;
  const archive = `${home}.tar.gz`;
  // All of it: jars that plugins share are hard links inside the archive.
  const unpacked = await command("tar", ["-xzf", archive, "-C", folder], { seconds: 300 });
  if (unpacked.code !== 0) return `tar failed: ${unpacked.stderr.trim().split("\n").at(-1)}`;
  await rm(archive);
  await writeFile(complete, "");
  return true;
}

/** Starts one and waits until it answers. `stop` ends it and removes what it wrote. */
export async function startTrinoServer() {
  const run = await mkdtemp(join(tmpdir(), "trino-"));
  const port = await freePort();
  await configure(run, port);
  const java = await javaHome();
  const env = { ...process.env, JAVA_HOME: java, PATH: `${java}/bin:${process.env["PATH"]}` };
  const launcher = join(home, "bin", "launcher");
  const child = spawn(launcher, [`--etc-dir=${run}/etc`, "run"], { env, detached: true });
  let log = "";
  const read = (chunk) => {
    log = (log + chunk).slice(-4_000);
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
    child.on("error", resolve);
  });
  const stop = async () => {
    // The launcher starts Java as its child, in the same group.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    await ended;
    await rm(run, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const until = performance.now() + startSeconds * 1000;
  while (!(await isReady(url))) {
    if (child.exitCode !== null || performance.now() > until) {
      await stop();
      throw new Error(`Trino did not start:\n${log}`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }
  return { url, stop };
}

async function configure(run, port) {
  const etc = join(run, "etc");
  await mkdir(join(etc, "catalog"), { recursive: true });
  await mkdir(join(run, "plugin"));
  // Start time is mostly plugin loading.
  for (const name of plugins) {
    await symlink(join(home, "plugin", name), join(run, "plugin", name));
  }
  const files = {
    "catalog/tpch.properties":
      "connector.name=tpch\ntpch.column-naming=STANDARD\ntpch.double-type-mapping=DECIMAL\n",
    "catalog/memory.properties": "connector.name=memory\n",
    "catalog/blackhole.properties": "connector.name=blackhole\n",
    "log.properties": "io.trino=WARN\n",
    "node.properties": `node.environment=test\nnode.id=trino-${port}\nnode.data-dir=${run}/data\nnode.bind-ip=127.0.0.1\nnode.internal-address=127.0.0.1\n`,
    "jvm.config":
      "-server\n-Xmx1536M\n-XX:+UseG1GC\n-XX:+ExitOnOutOfMemoryError\n-Djdk.attach.allowAttachSelf=true\n-Dfile.encoding=UTF-8\n--add-opens=java.base/java.nio=ALL-UNNAMED\n",
    "config.properties": `coordinator=true\nnode-scheduler.include-coordinator=true\nplugin.dir=${run}/plugin\ndiscovery.uri=http://127.0.0.1:${port}\nhttp-server.http.port=${port}\nquery.max-memory=512MB\nquery.max-memory-per-node=256MB\nmemory.heap-headroom-per-node=256MB\n`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(etc, name), text);
}

/** Started is not enough: until the server knows itself as a worker, tables have no node to be read on ("nodes is empty"). */
async function isReady(url) {
  try {
    const info = await fetch(`${url}/v1/info`, { signal: AbortSignal.timeout(2_000) });
    return (await info.json()).starting === false && (await readsTables(url));
  } catch {
    return false;
  }
}

async function readsTables(url) {
  const headers = { "x-trino-user": "test" };
  const signal = AbortSignal.timeout(30_000);
  const body = "SELECT count(*) FROM tpch.tiny.nation";
  let answer = await fetch(`${url}/v1/statement`, { method: "POST", headers, body, signal });
  for (;;) {
    const { nextUri, error } = await answer.json();
    if (nextUri === undefined) return error === undefined;
    answer = await fetch(nextUri, { headers, signal });
  }
}

/** Home of an installed JDK that is new enough. */
async function javaHome() {
  const installed = await readdir("/usr/lib/jvm").catch(() => []);
  const homes = [process.env["JAVA_HOME"], ...installed.map((name) => `/usr/lib/jvm/${name}`)];
  for (const one of homes) {
    if (one === undefined || !existsSync(`${one}/bin/java`)) continue;
    const { stderr } = await command(`${one}/bin/java`, ["-version"]);
    const major = /version "(\d+)/.exec(stderr)?.[1];
    if (Number(major) >= javaLeast) return one;
  }
  return undefined;
}

/** A port that is free now. */
export function freePort() {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
