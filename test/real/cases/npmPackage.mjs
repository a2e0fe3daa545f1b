/**
 * The npm package as somebody meets it who has Node and nothing else: packed, installed without a network
 * and without scripts into an empty folder, and started there by the command of the guide.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nativePackages, pack } from "../../../packages/gateway/bin/package.mjs";
import { command, expectCode } from "../command.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const startSeconds = 60;
const installSeconds = 300;

/** The ports of a quick start are fixed and may be in use here: the system gives each listener another one. */
const anyPort = `import net from "node:net"; const { listen } = net.Server.prototype; net.Server.prototype.listen = function (first, ...more) { return listen.call(this, typeof first?.port === "number" ? { ...first, port: 0 } : first, ...more); };`;

export const npmPackageCases = {
  tool: "npmPackage",
  cases: {
    "npx query-gateway answers a query in an empty folder, with nothing but Node": () =>
      inFolder(async (folder) => {
        const { home, tarball } = await installed(folder, ["--prefix", folder]);
        const megabytes = (bytes) => Math.round(bytes / 1e6);
        const size = [tarball, join(folder, "node_modules/query-gateway")].map(bytesOf);
        await answers(home, ["npx", "--offline", "query-gateway"], folder);
        console.log(
          `         figure: npm package ${size.map(megabytes).join(" MB, unpacked ")} MB`,
        );
      }),
    "npm i -g puts the command on the path, and it names its commands": () =>
      inFolder(async (folder) => {
        const prefix = join(folder, "prefix");
        mkdirSync(prefix);
        const { home } = await installed(folder, ["--global", "--prefix", prefix]);
        for (const name of ["gateway", "query-gateway"]) {
          const result = await command(
            join(prefix, "bin", name),
            ["validate", "--config", "none.yaml"],
            {
              env: { HOME: home },
              seconds: startSeconds,
            },
          );
          if (result.code !== 1 || !result.stderr.includes("none.yaml")) {
            throw new Error(`${name}: ${result.code} ${result.stderr}`);
          }
        }
        await answers(home, [join(prefix, "bin/query-gateway")], folder);
      }),
  },
};

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "gateway-npm-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Offline: the native packages are the ones of this checkout, in the versions that the package asks for. */
export async function installed(folder, where) {
  const home = join(folder, "home");
  mkdirSync(home);
  const tarball = await pack(join(folder, "packed"));
  const natives = nativePackages.map((name) => `file:${join(root, "node_modules", name)}`);
  const flags = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"];
  const args = ["install", ...where, ...flags, `file:${tarball}`, ...natives];
  const env = { HOME: home, npm_config_cache: join(home, "cache") };
  expectCode(await command("npm", args, { env, cwd: folder, seconds: installSeconds }));
  return { home, tarball };
}

/**
 * Starts it in an empty folder, asks one query over HTTP, tells `look` of its process group, and ends it. Answers how
 * long it took.
 */
export async function answers(home, [program, ...args], folder, look = () => {}) {
  const empty = join(folder, "empty");
  mkdirSync(empty, { recursive: true });
  const started = performance.now();
  const child = spawn(program, args, {
    // npx looks for the package upwards from here.
    cwd: empty,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      HOME: home,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(anyPort)}`,
    },
  });
  try {
    const port = await trinoPort(child);
    const rows = await answerOf(port, "SELECT 41 + 1");
    const seconds = (performance.now() - started) / 1000;
    if (JSON.stringify(rows) !== "[[42]]") throw new Error(`answered ${JSON.stringify(rows)}`);
    console.log(`         figure: ${program} to first answer ${seconds.toFixed(1)} s`);
    look(child.pid);
    if (existsSync(join(empty, "node_modules"))) throw new Error("something was installed there");
    return { seconds };
  } finally {
    // npx is the parent of what it starts.
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }
}

function trinoPort(child) {
  return new Promise((resolve, reject) => {
    let text = "";
    const limit = setTimeout(() => reject(new Error(`no banner:\n${text}`)), startSeconds * 1000);
    const read = (chunk) => {
      text += chunk;
      const [, port] = /Trino\s+127\.0\.0\.1:(\d+)/.exec(text) ?? [];
      if (port === undefined || !text.includes("Ctrl-C stops")) return;
      clearTimeout(limit);
      resolve(port);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("close", (code) => reject(new Error(`ended with ${code}:\n${text}`)));
  });
}

async function answerOf(port, sql) {
  let answer = await fetch(`http://127.0.0.1:${port}/v1/statement`, {
    method: "POST",
    headers: { "x-trino-user": "ann" },
    body: sql,
  }).then((response) => response.json());
  const rows = [];
  for (;;) {
    if (answer.error) throw new Error(answer.error.message);
    rows.push(...(answer.data ?? []));
    if (answer.nextUri === undefined) return rows;
    const response = await fetch(answer.nextUri, { headers: { "x-trino-user": "ann" } });
    answer = await response.json();
  }
}

export function bytesOf(path) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}
