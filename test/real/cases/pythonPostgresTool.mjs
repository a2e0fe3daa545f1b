/** A Python with the PostgreSQL drivers and tools: psycopg 2 under SQLAlchemy, psycopg 3, asyncpg, pyodbc, pgcli, DuckDB with its PostgreSQL and TPC extensions. */
import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { command } from "../command.mjs";

const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const folder = join(cache, "python-postgres");
const packages = [
  "psycopg2-binary==2.9.13",
  "SQLAlchemy==2.1.9",
  "asyncpg==0.32.0",
  "psycopg[binary]==3.3.9",
  "pyodbc==5.5.0",
  "pgcli==4.7.1",
  "duckdb==1.5.5",
  "duckdb-extension-postgres-scanner==1.5.5",
  "duckdb-extension-tpch==1.5.5",
  "duckdb-extension-tpcds==1.5.5",
];
/** Says which packages were brought, so that a new one is brought into an old cache. */
const marker = join(folder, "complete");

/** The Python that has them. */
export const python = join(folder, "bin", "python");
/** pgcli of that Python. */
export const pgcli = join(folder, "bin", "pgcli");

/** True, or the reason why it is missing. */
export async function installPythonPostgres() {
  const wanted = packages.join("\n");
  if ((await readFile(marker, "utf8").catch(() => "")) === wanted) return true;
  const made = await command("python3", ["-m", "venv", folder], { seconds: 120 });
  if (made.code !== 0) return "there is no python3 with venv";
  const args = ["-m", "pip", "install", "-q", ...packages];
  const installed = await command(python, args, { seconds: 240 });
  if (installed.code !== 0) return `pip failed: ${installed.stderr.trim().split("\n").at(-1)}`;
  await writeFile(marker, wanted);
  return true;
}

/** Runs a script against the gateway and answers what it printed, as JSON. */
export async function runPython(gateway, script) {
  const result = await command(python, ["-c", script, gateway.ports.postgres], { seconds: 90 });
  if (result.code !== 0) throw new Error(result.stderr || result.stdout);
  return JSON.parse(result.stdout);
}
