/**
 * The committed text as one value, so that each check is a pure function of it.
 *
 * It reads every file once. It does not ask git: an unpacked archive is checked just as well.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Text by path. Paths are relative to the repository and use `/`. */
export type Tree = ReadonlyMap<string, string>;

/** Reads all text files that `.gitignore` admits. A file with a NUL byte is binary and left out. */
export function readTree(root: string): Tree {
  const ignored = ignoredBy(readFileSync(join(root, ".gitignore"), "utf8"));
  return new Map(
    pathsUnder(root, "", ignored)
      .map((path): [string, string] => [path, readFileSync(join(root, path), "utf8")])
      .filter(([, text]) => !text.includes("\0")),
  );
}

/** Sources of the packages without tests, suites, rigs and types of generated code: what somebody wrote for the bundle. */
export function sourcesOf(tree: Tree): Tree {
  return filesOf(
    tree,
    (path) =>
      /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path) &&
      !/(\.(test|suite)\.tsx?|\/rig\/[^/]+\.ts|_pb\.d\.ts)$/.test(path),
  );
}

/** The files whose path is accepted, in the order of the tree. */
export function filesOf(tree: Tree, accepts: (path: string) => boolean): Tree {
  return new Map([...tree].filter(([path]) => accepts(path)));
}

/** Every folder that holds a file, however deep. */
export function foldersOf(tree: Tree): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of tree.keys()) {
    let folder = posix.dirname(path);
    while (folder !== "." && !folders.has(folder)) {
      folders.add(folder);
      folder = posix.dirname(folder);
    }
  }
  return folders;
}

/** Reads the three forms our `.gitignore` has: `name/`, `/path/` and `*.suffix`. */
export function ignoredBy(gitignore: string): (path: string) => boolean {
  const lines = gitignore.split("\n").map((line) => line.trim());
  const suffixes = lines.filter((line) => line.startsWith("*.")).map((line) => line.slice(1));
  const names = new Set([".git/", ...lines.filter((line) => line.endsWith("/"))]);
  return (path) =>
    suffixes.some((suffix) => path.endsWith(suffix)) ||
    names.has(`${posix.basename(path)}/`) ||
    names.has(`/${path}/`);
}

function pathsUnder(
  root: string,
  folder: string,
  ignored: (path: string) => boolean,
): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (ignored(path)) return [];
    if (entry.isDirectory()) return pathsUnder(root, path, ignored);
    return entry.isFile() ? [path] : [];
  });
}
