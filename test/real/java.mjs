/** Servers written in Java: which JDK runs them, and their archives from Maven. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { command } from "./command.mjs";

const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");

/** Home of an installed JDK whose major version is at least `least`; undefined where there is none. */
export async function javaHome(least) {
  const installed = await readdir("/usr/lib/jvm").catch(() => []);
  const homes = [process.env["JAVA_HOME"], ...installed.map((name) => `/usr/lib/jvm/${name}`)];
  for (const one of homes) {
    if (one === undefined || !existsSync(`${one}/bin/java`)) continue;
    const { stderr } = await command(`${one}/bin/java`, ["-version"]);
    if (Number(/version "(\d+)/.exec(stderr)?.[1]) >= least) return one;
  }
  return undefined;
}

/** Where an archive of Maven's is kept unpacked: `name` is the folder inside of it. */
export function archiveHome(folder, name) {
  return join(cache, folder, name);
}

/** Fetches and unpacks an archive once. Answers true, or the reason why it can not be had. */
export async function installArchive(folder, name, artifact) {
  const home = archiveHome(folder, name);
  const complete = join(home, ".complete");
  if (existsSync(complete)) return true;
  if ((await command("mvn", ["--version"])).code !== 0) return "there is no mvn";
  const place = join(cache, folder);
  await mkdir(place, { recursive: true });
  const args = [
    "-q",
    "-B",
    "dependency:copy",
    `-Dartifact=${artifact}`,
    `-DoutputDirectory=${place}`,
    "-Dmdep.useBaseVersion=true",
  ];
  const copied = await command("mvn", args, { seconds: 600 });
  if (copied.code !== 0) return `mvn failed: ${copied.stdout.trim().split("\n").at(-1)}`;
  const [, id, version] = artifact.split(":");
  const archive = join(place, `${id}-${version}.tar.gz`);
  // All of it: files that parts share are hard links inside some archives.
  const unpacked = await command("tar", ["-xzf", archive, "-C", place], { seconds: 300 });
  if (unpacked.code !== 0) return `tar failed: ${unpacked.stderr.trim().split("\n").at(-1)}`;
  await rm(archive);
  await writeFile(complete, "");
  return true;
}

/**
 * Runs a launcher and waits until `isReady` says yes, for at most `seconds`. Answers what ends it and
 * removes the folder `run`; throws with the end of what it printed when it does not start.
 */
export async function startServer({ name, program, args, env, run, seconds, isReady }) {
  const child = spawn(program, args, { env: { ...process.env, ...env }, detached: true });
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
    // A launcher starts Java as its child, in the same group.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    await ended;
    await rm(run, { recursive: true, force: true });
  };
  const until = performance.now() + seconds * 1000;
  while (!(await isReady())) {
    if (child.exitCode !== null || performance.now() > until) {
      await stop();
      throw new Error(`${name} did not start:\n${log}`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }
  return stop;
}
