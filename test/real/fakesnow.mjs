/**
 * An emulator of Snowflake's protocol over DuckDB (fakesnow), behind a door that checks logins, for
 * Snowflake's real driver. Ended by its own process; what it shows and what not is in fakesnowChecked.py.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { command } from "./command.mjs";

const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const environment = join(cache, "fakesnow");
const python = join(environment, "bin", "python");
const startSeconds = 60;

/** Installs it; true, or the reason why it can not be had. */
export async function installFakesnow() {
  const probe = ["-c", "import fakesnow.server, cryptography"];
  if (existsSync(python) && (await command(python, probe)).code === 0) return true;
  const made = await command("python3", ["-m", "venv", environment], { seconds: 120 });
  if (made.code !== 0) return "there is no python3 with venv";
  // Version 5 of the connector dropped a module that fakesnow imports.
  const packages = ["fakesnow[server]==0.12.1", "snowflake-connector-python>=4,<5", "cryptography"];
  const pip = ["-m", "pip", "install", "-q", ...packages];
  const installed = await command(python, pip, { seconds: 300 });
  return installed.code === 0 || "pip install fakesnow failed";
}

/** Starts it on a free port; answers `{url, keyFile, stop}`. */
export async function startFakesnow() {
  const folder = await mkdtemp(join(tmpdir(), "gateway-fakesnow-"));
  const keys = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const keyFile = join(folder, "gateway.p8");
  const gateway = {
    password: "gateway-secret",
    oauth: "gateway-oauth",
    pat: "gateway-pat",
    public_key: keys.publicKey,
  };
  const person = (name) => ({ password: `${name}-secret`, oauth: `${name}-oauth` });
  const users = { gateway, alice: person("alice"), bob: person("bob") };
  await writeFile(keyFile, keys.privateKey, { mode: 0o600 });
  await writeFile(join(folder, "users.json"), JSON.stringify(users));
  const port = await freePort();
  const program = fileURLToPath(new URL("fakesnowChecked.py", import.meta.url));
  const args = [program, String(port), join(folder, "users.json")];
  const child = spawn(python, args, { cwd: folder, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    const gone = new Promise((resolve) => {
      child.once("exit", resolve);
    });
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await gone;
    }
    await rm(folder, { recursive: true, force: true });
  };
  for (let waited = 0; waited < startSeconds * 5; waited += 1) {
    const answer = await fetch(`${url}/test/log`).catch(() => undefined);
    if (answer?.ok === true) return { url, keyFile, stop };
    await pause(200);
  }
  await stop();
  throw new Error("fakesnow did not start");
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
