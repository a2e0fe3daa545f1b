/** The quick start as processes: what its first start leaves running, and what a second one in the same folder says. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { childrenOf, commandOf } from "../abuse/engineProcess.ts";
import { exitOf, type Outcome } from "./program.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const onLinux = process.platform === "linux";
const titles = ["Trino", "PostgreSQL", "MySQL", "ClickHouse", "Flight SQL", "Admin"];

/** The ports of a quick start are fixed and may be in use here: the system gives each listener another one. */
const anyPort = `import net from "node:net"; const { listen } = net.Server.prototype; net.Server.prototype.listen = function (first, ...more) { return listen.call(this, typeof first?.port === "number" ? { ...first, port: 0 } : first, ...more); };`;

let folder: string;
/** A checkout that was never built. */
let checkout: string;
let first: Started;

interface Started {
  readonly child: ChildProcess;
  readonly said: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<number | null>;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gateway-quickstart-"));
  checkout = join(folder, "checkout");
  copyCheckout(checkout);
  first = quickstart();
  await Promise.race([ready(first), first.ended.then(() => Promise.reject(gone(first)))]);
}, 240_000);

afterAll(async () => {
  // What it makes for later starts, nobody waits for.
  const makers = onLinux && first.child.pid !== undefined ? childrenOf(first.child.pid) : [];
  for (const pid of makers.filter((one) => commandOf(one).includes("--data"))) process.kill(pid);
  first.child.kill("SIGKILL");
  await first.ended;
  rmSync(folder, { recursive: true, force: true });
});

describe("the first start of a checkout", () => {
  it.skipIf(!onLinux)(
    "builds itself and leaves no process of the bundler beside the gateway (only Linux names children)",
    () => {
      // It was built by this very process: nobody else knows the folder.
      expect(existsSync(join(checkout, "packages/gateway/dist/build.json"))).toBe(true);
      const children = childrenOf(first.child.pid ?? 0).map(commandOf);
      expect(children.some((command) => command.includes("adbcProcess"))).toBe(true);
      expect(children.filter((command) => command.includes("esbuild"))).toEqual([]);
    },
  );
});

describe("a second quick start in one folder", () => {
  it("ends with 2 and says where the first one listens", async () => {
    const second = quickstart();
    const { code, stderr } = await outcomeOf(second);
    expect(code).toBe(2);
    expect(stderr).toContain("A quick start runs here already. It listens on:");
    for (const title of titles) {
      const [, address] =
        new RegExp(`${title} +(127\\.0\\.0\\.1:\\d+)`).exec(first.said.stdout) ?? [];
      expect([title, address]).toEqual([title, expect.any(String)]);
      expect(stderr).toContain(`${title} ${address}\n`);
    }
    // The first one goes on.
    const [, admin = ""] = /Admin +(\S+)/.exec(first.said.stdout) ?? [];
    expect((await fetch(`http://${admin}/readyz`)).status).toBe(200);
  }, 60_000);
});

function quickstart(): Started {
  const preload = `--import=data:text/javascript,${encodeURIComponent(anyPort)}`;
  const program = join(checkout, "packages/gateway/bin/gateway.mjs");
  const child = spawn(process.execPath, [preload, program, "quickstart"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (chunk) => {
      said[name] += String(chunk);
    });
  }
  return { child, said, ended: exitOf(child) };
}

async function ready({ said }: Started): Promise<void> {
  await vi.waitUntil(() => said.stdout.includes("Ctrl-C stops"), {
    timeout: 200_000,
    interval: 50,
  });
}

function gone({ said }: Started): Error {
  return new Error(`ended early: ${said.stderr}`);
}

async function outcomeOf({ said, ended }: Started): Promise<Outcome> {
  const code = await ended;
  return { code, ...said };
}

/** What a start needs of the sources; packages of others are the ones that are here. */
function copyCheckout(to: string): void {
  for (const name of readdirSync(join(root, "packages"))) {
    const source = join(root, "packages", name);
    const parts = ["package.json", "src", "bin", "public", "index.html", "vite.config.ts"];
    for (const part of [...parts, "tsconfig.json"].filter((one) => existsSync(join(source, one)))) {
      cpSync(join(source, part), join(to, "packages", name, part), { recursive: true });
    }
  }
  for (const file of ["package.json", "package-lock.json", "tsconfig.json", "migrations"]) {
    cpSync(join(root, file), join(to, file), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(to, "node_modules"));
}
