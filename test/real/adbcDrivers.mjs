/** ADBC drivers as shared libraries, taken out of their PyPI wheels as the image takes them. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command } from "./command.mjs";

const names = ["snowflake", "postgresql", "sqlite", "flightsql"];
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const program = fileURLToPath(new URL("../../infra/adbc/take.py", import.meta.url));

/** Folder of the libraries. */
export const driverFolder = join(cache, "adbc");

/** Brings every library; true, or the reason why one can not be had. */
export async function installDrivers() {
  if ((await command("python3", ["-m", "pip", "--version"])).code !== 0) return "there is no pip";
  const missing = names.filter(
    (name) => !existsSync(join(driverFolder, `libadbc_driver_${name}.so`)),
  );
  const args = [program, missing.join(","), driverFolder];
  const taken = await command("python3", args, { seconds: 300 });
  return taken.code === 0 || `the drivers were not taken: ${taken.stderr.slice(-200)}`;
}
