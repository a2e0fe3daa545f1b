/**
 * Are `sst.config.ts` and `infra/` right by SST's own types?
 *
 * SST's types are not in its npm package: its program carries the source of its components and
 * installs what they need from the package registry. This runs exactly that (`sst install`), in a
 * folder under `node_modules/.cache`, once per version; nothing but the registry is asked, and
 * nothing is deployed. SST also wants Pulumi, which a type check never runs: a stand-in answers the
 * question for its version.
 *
 * Checked: every name, option and value of components and of AWS resources. Not checked: what
 * components refuse when they run (a missing domain, mixed protocols), and what AWS refuses.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownDiagnostics, canary, unseen } from "./diagnostics.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const compiler = join(root, "node_modules/ts7/bin/tsc");
const installMsMax = 10 * 60_000;

/** One line for each thing that is wrong. */
export function sstTypeProblems() {
  const said = typeCheck(preparedFolder());
  const missed = unseen(said).map((line) => `the check is blind: nothing said about ${line}`);
  return [...ownDiagnostics(said), ...missed];
}

/** A folder with SST's components installed and today's sources beside them. */
function preparedFolder() {
  const program = sstProgram();
  const config = readFileSync(join(root, "sst.config.ts"));
  const { version } = JSON.parse(readFileSync(join(root, "node_modules/sst/package.json"), "utf8"));
  const key = createHash("sha256").update(version).update(config).digest("hex").slice(0, 16);
  const made = join(root, "node_modules/.cache/check-infra", key);
  mkdirSync(made, { recursive: true });
  for (const name of ["sst.config.ts", "infra", "tsconfig.json", "tsconfig.infra.json"]) {
    rmSync(join(made, name), { recursive: true, force: true });
    cpSync(join(root, name), join(made, name), { recursive: true });
  }
  writeFileSync(join(made, "infra/canary.ts"), canary.map(({ code }) => `${code}\n`).join(""));
  writeFileSync(join(made, "package.json"), '{ "private": true, "type": "module" }\n');
  // Last, and only then complete: an install that was cut off is done again.
  const complete = join(made, "complete");
  if (existsSync(complete)) return made;
  console.log("installing the types of SST and of its AWS provider (about 300 MB, once)");
  rmSync(join(made, ".sst"), { recursive: true, force: true });
  install(program, made);
  writeFileSync(complete, "");
  return made;
}

/** The program itself; `node_modules/.bin/sst` only starts it. */
function sstProgram() {
  const own = createRequire(realpathSync(join(root, "node_modules/sst/package.json")));
  const name = process.platform === "win32" ? "sst.exe" : "sst";
  return own.resolve(`sst-${process.platform}-${process.arch}/bin/${name}`);
}

function install(program, cwd) {
  const home = mkdtempSync(join(tmpdir(), "gateway-sst-"));
  try {
    placeStandIn(program, home);
    const { status, stdout, stderr } = spawnSync(program, ["install", "--stage", "check"], {
      cwd,
      encoding: "utf8",
      timeout: installMsMax,
      // With a terminal it would wait for one.
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...environment(home) },
    });
    if (status !== 0) throw new Error(`sst install failed: ${stdout}${stderr}`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** npm keeps its own settings and cache; everything else that SST writes goes to a home of its own. */
function environment(home) {
  const npm = (key) =>
    execFileSync("npm", ["config", "get", key], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    npm_config_cache: npm("cache"),
    npm_config_userconfig: join(homedir(), ".npmrc"),
    NPM_REGISTRY: npm("registry").replace(/\/$/, ""),
    SST_NO_BUN: "1",
    SST_TELEMETRY_DISABLED: "1",
  };
}

/** A `pulumi` that knows its version: the one SST was made with, which its own package list names. */
function placeStandIn(program, home) {
  const version = /"@pulumi\/pulumi": "v?([\d.]+)"/.exec(readFileSync(program, "latin1"))?.[1];
  if (version === undefined) throw new Error("SST does not name its version of Pulumi any more");
  // Where SST keeps its tools on Linux, and on macOS.
  for (const config of [".config", "Library/Application Support"]) {
    const bin = join(home, config, "sst/bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "pulumi"), `#!/bin/sh\necho v${version}\n`);
    chmodSync(join(bin, "pulumi"), 0o755);
  }
}

function typeCheck(cwd) {
  const args = [compiler, "-p", "tsconfig.infra.json", "--pretty", "false"];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (status === null) throw new Error(`the compiler did not run: ${stderr}`);
  return stdout;
}
