/** Installs ClickHouse's embedded engine from npm into the cache, and starts it behind its HTTP interface. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command } from "./command.mjs";

const version = "3.4.0";
const startSeconds = 60;

/** True, or the reason why it can not be had. `cache` is a folder that outlives the run. */
export async function installClickHouse(cache) {
  if (process.platform !== "linux" && process.platform !== "darwin")
    return "chdb is not built for this system";
  const folder = folderIn(cache);
  if (existsSync(join(folder, ".complete"))) return true;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"private":true}');
  const args = [
    "install",
    "--silent",
    "--no-audit",
    "--no-fund",
    "--prefix",
    folder,
    `chdb@${version}`,
  ];
  const installed = await command("npm", args, { seconds: 300 });
  if (installed.code !== 0) return `npm could not install chdb ${version}`;
  await writeFile(join(folder, ".complete"), "");
  return true;
}

/** Starts it on a free port; answers `{url, stop}`. */
export async function startClickHouse(cache) {
  const data = await mkdtemp(join(tmpdir(), "gateway-clickhouse-"));
  const program = fileURLToPath(new URL("clickHouseChdb.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, "0", data, folderIn(cache)], { stdio: "pipe" });
  let text = "";
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  const port = await new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`no server:\n${text}`)), startSeconds * 1000);
    const read = (chunk) => {
      text += chunk;
      const found = /listening (\d+)/.exec(text)?.[1];
      if (found === undefined) return;
      clearTimeout(limit);
      resolve(found);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    void ended.then((code) => reject(new Error(`ended with ${code}:\n${text}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(data, { recursive: true, force: true });
    },
  };
}

function folderIn(cache) {
  return join(cache, `chdb-${version}`);
}
