/** One jar from Maven Central into the cache: true, or why a Java case can not run. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { command } from "../command.mjs";

const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");

/** Where the jar of an artifact is kept. */
export const jarOf = (name, version) => join(cache, `${name}-${version}.jar`);

/** Brings it. `group` is the artifact's, as Maven writes it. */
export async function bringJar(group, name, version) {
  // Source files are run as they are, which a runtime alone can not.
  if ((await command("javac", ["--version"])).code !== 0) return "there is no JDK";
  if (existsSync(jarOf(name, version))) return true;
  const args = [
    "-q",
    "dependency:copy",
    `-Dartifact=${group}:${name}:${version}:jar`,
    `-DoutputDirectory=${cache}`,
    "-Dmdep.useBaseVersion=true",
  ];
  const copied = await command("mvn", args, { seconds: 240 });
  return copied.code === 0 || `mvn failed: ${copied.stdout.trim().split("\n").at(-1)}`;
}
