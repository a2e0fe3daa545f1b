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
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commitOf, sourcesOf } from "./before.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
const parts = ["scenario.ts", "statements.ts", "recordStatements.ts"];

const wanted = process.argv[2] ?? "HEAD";
const commit = commitOf(wanted);
if (commit === undefined) throw new Error(`this clone has no commit ${wanted}`);
const folder = mkdtempSync(join(tmpdir(), "gateway-before-"));
try {
  sourcesOf(commit, folder);
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
