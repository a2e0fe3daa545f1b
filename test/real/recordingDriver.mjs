/** The recording ADBC driver, compiled under the name of Snowflake's. What it writes down is read by recorded.ts. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command, expectCode } from "./command.mjs";

const source = fileURLToPath(new URL("recordingDriver.c", import.meta.url));

/** True, or the reason why it can not be compiled. */
export async function recordingTool() {
  const { code } = await command("cc", ["--version"]);
  return code === 0 || "there is no C compiler";
}

/** Compiles it into a folder of its own; answers `{folder, stop}`. */
export async function compileRecording() {
  const folder = await mkdtemp(join(tmpdir(), "gateway-recording-"));
  const library = join(folder, "libadbc_driver_snowflake.so");
  const flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl"];
  expectCode(await command("cc", flags, { seconds: 60 }));
  return { folder, stop: () => rm(folder, { recursive: true, force: true }) };
}
