/** A Python with the PostgreSQL drivers that its tools use: psycopg 2 under SQLAlchemy, and asyncpg. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { command } from "../command.mjs";

const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const folder = join(cache, "python-postgres");
const packages = ["psycopg2-binary==2.9.13", "SQLAlchemy==2.1.9", "asyncpg==0.32.0"];

/** The Python that has them. */
export const python = join(folder, "bin", "python");

/** True, or the reason why it is missing. */
export async function installPythonPostgres() {
  if (existsSync(join(folder, "complete"))) return true;
  const made = await command("python3", ["-m", "venv", folder], { seconds: 120 });
  if (made.code !== 0) return "there is no python3 with venv";
  const args = ["-m", "pip", "install", "-q", ...packages];
  const installed = await command(python, args, { seconds: 240 });
  if (installed.code !== 0) return `pip failed: ${installed.stderr.trim().split("\n").at(-1)}`;
  await command("touch", [join(folder, "complete")]);
  return true;
}

/** Runs a script against the gateway and answers what it printed, as JSON. */
export async function runPython(gateway, script) {
  const result = await command(python, ["-c", script, gateway.ports.postgres], { seconds: 90 });
  if (result.code !== 0) throw new Error(result.stderr || result.stdout);
  return JSON.parse(result.stdout);
}
