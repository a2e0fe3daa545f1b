/**
 * The program of an earlier commit, from this clone's history: its sources in a folder of their own, with the packages
 * that are installed here. A clone without that history has none, as a shallow one.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));

/** The whole name of a commit; undefined where this clone has none of that name. */
export function commitOf(name) {
  try {
    return git("rev-parse", "--verify", "--quiet", `${name}^{commit}`).toString().trim();
  } catch {
    return undefined;
  }
}

/** The commits whose statements are kept: the programs that were before, as `record.mjs` names them. */
export function recordedCommits() {
  return readdirSync(here).flatMap(
    (name) => /^statements-([0-9a-f]{12})\.json$/.exec(name)?.[1] ?? [],
  );
}

/** Writes what the commit's program is made from into `folder`. */
export function sourcesOf(commit, folder) {
  const paths = ["packages", "migrations", "package.json", "package-lock.json", "tsconfig.json"];
  const input = git("archive", "--format=tar", commit, ...paths);
  execFileSync("tar", ["-x"], { cwd: folder, input });
  const from = join(root, "node_modules");
  const to = join(folder, "node_modules");
  mkdirSync(join(to, "@gateway"), { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== "@gateway") symlinkSync(join(from, name), join(to, name));
  }
  for (const name of readdirSync(join(folder, "packages"))) {
    symlinkSync(join(folder, "packages", name), join(to, "@gateway", name));
    linkOwn(name, folder);
  }
}

/** What npm put beside one package alone. */
function linkOwn(name, folder) {
  const own = join(root, "packages", name, "node_modules");
  try {
    symlinkSync(own, join(folder, "packages", name, "node_modules"));
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
}

/** Builds it as it builds itself; answers the bundle. */
export function buildProgram(folder) {
  execFileSync(process.execPath, ["packages/gateway/bin/build.mjs", "--data-later"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return join(folder, "packages/gateway/dist/gateway.js");
}

function git(...args) {
  return execFileSync("git", args, {
    cwd: root,
    maxBuffer: 1 << 30,
    stdio: ["ignore", "pipe", "pipe"],
  });
}
