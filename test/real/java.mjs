/** Servers written in Java: which JDK runs them, and their archives from Maven. */
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
