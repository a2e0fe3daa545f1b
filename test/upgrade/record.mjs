/**
 * Records the statements that the program of a commit sends to its database, for `statements.slow.test.ts`:
 *
 *   node test/upgrade/record.mjs COMMIT
 *
 * Done at each release, with the commit that is released, and kept: a clone without history, as a test run has it,
 * can not build that program any more. The sources of the commit lie in a folder of their own meanwhile, with the
 * packages that are installed here. Needs `npm run build`.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
const parts = ["scenario.ts", "statements.ts", "recordStatements.ts"];

const git = (...args) => execFileSync("git", args, { cwd: root, maxBuffer: 1 << 30 });
const commit = git("rev-parse", "--verify", `${process.argv[2] ?? "HEAD"}^{commit}`)
  .toString()
  .trim();
const folder = mkdtempSync(join(tmpdir(), "gateway-before-"));
try {
  const sources = git(
    "archive",
    "--format=tar",
    commit,
    "packages",
    "migrations",
    "package.json",
    "tsconfig.json",
  );
  execFileSync("tar", ["-x"], { cwd: folder, input: sources });
  linkModules();
  // An empty database, which is the same for every program.
  const empty = "packages/gateway/dist/pglite.tar.gz";
  mkdirSync(join(folder, "packages/gateway/dist"));
  cpSync(join(root, empty), join(folder, empty));
  mkdirSync(join(folder, "test/upgrade"), { recursive: true });
  for (const name of parts) cpSync(join(here, name), join(folder, "test/upgrade", name));
  const output = join(here, `statements-${commit.slice(0, 12)}.json`);
  const program = join(folder, "test/upgrade/recordStatements.ts");
  const args = ["--import", "tsx", program, commit, output];
  execFileSync(process.execPath, args, { cwd: folder, stdio: "inherit" });
  console.log(output);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Everything that is installed here, but the packages of the commit in place of these. */
function linkModules() {
  const from = join(root, "node_modules");
  const to = join(folder, "node_modules");
  mkdirSync(join(to, "@gateway"), { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== "@gateway") symlinkSync(join(from, name), join(to, name));
  }
  for (const name of readdirSync(join(folder, "packages"))) {
    symlinkSync(join(folder, "packages", name), join(to, "@gateway", name));
  }
}
