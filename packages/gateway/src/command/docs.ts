/** `gateway docs`: writes `docs/reference`; with `--check` only says which of its files are stale. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { referencePages } from "../docs/pages.ts";
import { exitCode, type Terminal } from "./terminal.ts";

/**
 * `--root DIR` is the repository, the current folder unless given. Answers 1 when `--check` finds a
 * file that is stale or missing, with one line for each.
 */
export async function docsCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = {
    check: { type: "boolean", default: false },
    root: { type: "string", default: "." },
  } as const;
  const { check, root } = parseArgs({ args: [...args], options, strict: true }).values;

  let stale = 0;
  for (const { path, text } of referencePages()) {
    const file = join(root, path);
    if ((await textOf(file)) === text) continue;
    stale += 1;
    if (check) {
      terminal.err(`${path}: is not what the code says; run \`npm run docs\`\n`);
      continue;
    }
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    terminal.out(`${path}: written\n`);
  }
  if (stale === 0) terminal.out("docs/reference: up to date\n");
  return check && stale > 0 ? exitCode.config : exitCode.clean;
}

/** The text of a file; undefined when there is none. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
