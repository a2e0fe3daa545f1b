/** Brings schemathesis onto the machine from PyPI, in a virtual environment of its own. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { command } from "../command.mjs";

const version = "4.32.5";
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const home = join(cache, `schemathesis-${version}`);

/** The program. */
export const schemathesis = join(home, "bin", "schemathesis");

/** True, or why it can not be had. */
export async function installSchemathesis() {
  if (existsSync(schemathesis)) return true;
  const made = await command("python3", ["-m", "venv", home], { seconds: 120 });
  if (made.code !== 0) return `no virtual environment: ${lastLine(made.stderr || made.stdout)}`;
  const args = ["-m", "pip", "install", "-q", `schemathesis==${version}`];
  const installed = await command(join(home, "bin", "python"), args, { seconds: 240 });
  return installed.code === 0 || `pip failed: ${lastLine(installed.stderr)}`;
}

function lastLine(text) {
  return text.trim().split("\n").at(-1) ?? "";
}
