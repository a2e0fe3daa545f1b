/**
 * What the Dockerfile makes, made without Docker: its build stage in a folder that holds what .dockerignore
 * lets through, its last stage as a root of its own, which is read-only and has the image's files and this machine's libraries.
 */
import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { command, expectCode } from "./command.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const installSeconds = 300;

/** True, or why no such root can be made here. */
export async function imageTool() {
  if (process.platform !== "linux") return "only Linux gives a process a root of its own";
  const { code } = await command("unshare", ["--mount", "true"]);
  return code === 0 || "it takes root to give a process a root of its own";
}

/** Instructions of a stage, as `[word, rest]`, lines that go on joined. */
export function dockerfile() {
  const text = readFileSync(join(root, "Dockerfile"), "utf8").replaceAll(/\\\n\s*/g, "");
  const all = text
    .split("\n")
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]);
  const starts = all.flatMap(([word], at) => (word === "FROM" ? [at] : []));
  return starts.map((at, stage) => all.slice(at + 1, starts[stage + 1]));
}

/**
 * Builds it, without drivers. Answers `{app, settings, run, takeDrivers, stop}`; `run` starts the image's own command,
 * or another one; `takeDrivers` makes it the one that is built with these ADBC drivers.
 */
export async function buildImage() {
  const folder = mkdtempSync(join(tmpdir(), "gateway-image-"));
  const stop = () => rmSync(folder, { recursive: true, force: true });
  try {
    const source = join(folder, "source");
    const app = join(folder, "root/app");
    copyContext(source);
    mkdirSync(dirname(app), { recursive: true });
    const [taken = [], build = [], last = []] = dockerfile();
    for (const [word, line] of build) {
      if (word !== "RUN") continue;
      // What the image itself does in the making, it does at its own place.
      if (line.startsWith("/app/")) {
        await madeIn(folder, last, line.split(" "));
        continue;
      }
      // The one folder that leaves the stage; the other is made below.
      const here = line.replaceAll(/(^|\s)\/app\b/g, `$1${app}`).replace(" && mkdir /state", "");
      expectCode(await command("sh", ["-c", here], { cwd: source, seconds: installSeconds }));
    }
    // Whatever would still be looked for in the sources is not there.
    rmSync(source, { recursive: true });
    return {
      app,
      settings: settingsOf(last),
      run: (options) => runIn(folder, last, options),
      takeDrivers: (drivers) => takeDrivers(taken, app, drivers),
      stop,
    };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Its stage of drivers, with the build argument `ADBC_DRIVERS`. */
async function takeDrivers(stage, app, drivers) {
  for (const [word, line] of stage) {
    if (word !== "RUN") continue;
    const here = line.replaceAll(/(^|\s)\/adbc\b/g, `$1${join(app, "adbc")}`);
    const cwd = join(root, "infra/adbc");
    const env = { ADBC_DRIVERS: drivers };
    expectCode(await command("sh", ["-c", here], { cwd, env, seconds: installSeconds }));
  }
}

/** As Docker reads .dockerignore: the last pattern that fits decides. */
function copyContext(to) {
  const patterns = readFileSync(join(root, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ taken: line.startsWith("!"), fits: patternOf(line.replace("!", "")) }));
  const isTaken = (path) => {
    const last = patterns.findLast(({ fits }) => fits.test(path));
    return last === undefined || last.taken;
  };
  cpSync(root, to, {
    recursive: true,
    filter: (path) =>
      path.length <= root.length || isTaken(path.slice(root.length).replaceAll(sep, "/")),
  });
}

/** `*` stops at a slash, and what stands below a folder that fits, fits as well. */
function patternOf(pattern) {
  const parts = pattern.split(/(\*\*\/|\*)/).map((part) => {
    if (part === "**/") return "(?:.+/)?";
    return part === "*" ? "[^/]*" : part.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join("")}(?:/.*)?$`);
}

function settingsOf(stage) {
  return Object.fromEntries(stage.filter(([word]) => word !== "COPY"));
}

/** A step of the build in the image's root, which it may write. */
async function madeIn(folder, stage, words) {
  const { ended, said } = runIn(folder, stage, { config: "", args: words, builds: true });
  const code = await ended;
  if (code !== 0) throw new Error(`${words.join(" ")}: ${said.stderr}`);
}

/** Starts a process in the image's root. `config` stands where the image looks for one. */
function runIn(folder, stage, { config, args, builds = false }) {
  const settings = settingsOf(stage);
  const etc = join(folder, "etc");
  mkdirSync(etc, { recursive: true });
  writeFileSync(join(etc, "gateway.yaml"), config);
  const words = args ?? [...JSON.parse(settings.ENTRYPOINT), ...JSON.parse(settings.CMD)];
  const [uid, gid] = settings.USER.split(":");
  const system = ["usr", "bin", "sbin", "lib", "lib64"].filter((name) => existsSync(`/${name}`));
  const script = [
    "set -e",
    "mount --make-rprivate /",
    // A mount of its own, so that it alone becomes read-only.
    `mount --bind ${folder}/root ${folder}/root`,
    `cd ${folder}/root`,
    `mkdir -p ${system.join(" ")} dev proc tmp etc/gateway .${settings.WORKDIR}`,
    ...[...system, "dev", "proc"].map((name) => `mount --rbind /${name} ${name}`),
    `mount --bind ${etc} etc/gateway`,
    `mount -t tmpfs -o mode=0700,uid=${uid},gid=${gid} tmpfs .${settings.VOLUME}`,
    builds
      ? 'exec chroot . "$@"'
      : [
          `mount -o remount,bind,ro ${folder}/root;`,
          // No right of root is left, and no program can give one back.
          `exec chroot . /usr/bin/setpriv --reuid ${uid} --regid ${gid} --clear-groups`,
          "--no-new-privs --bounding-set=-all --inh-caps=-all",
          `/usr/bin/env -i --chdir=${settings.WORKDIR} ${settings.ENV} "$@"`,
        ].join(" "),
  ];
  const child = spawn("unshare", ["--mount", "sh", "-c", script.join("\n"), "sh", ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].on("data", (chunk) => (said[name] += chunk));
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  return { child, ended, said };
}
