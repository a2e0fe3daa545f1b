/** Which tests see a source: those that import it by the fewest steps, and by one more. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const importing = /(?:from|import)\s*\(?\s*"([^"]+)"/g;

/**
 * Answers a function from a source's path to the paths of tests. Sources and tests are those of `packages`; what they
 * share lies in `test`, and leads from one to the other.
 */
export function relatedTests(root) {
  const packages = join(root, "packages");
  const folders = readdirSync(packages).map((name) => join(packages, name, "src"));
  const shared = join(root, "test");
  const files = [...folders, shared].flatMap((folder) => {
    if (!existsSync(folder)) return [];
    return readdirSync(folder, { recursive: true })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".slow.test.ts"))
      .filter((path) => folder !== shared || !path.endsWith(".test.ts"))
      .map((path) => join(folder, path));
  });
  const importers = new Map(files.map((file) => [file, []]));
  for (const file of files) {
    for (const [, name] of readFileSync(file, "utf8").matchAll(importing)) {
      importers.get(pathOf(name, file, packages))?.push(file);
    }
  }
  return (source) => {
    const steps = new Map([[source, 0]]);
    for (const [file, step] of steps) {
      for (const importer of importers.get(file) ?? []) {
        if (!steps.has(importer)) steps.set(importer, step + 1);
      }
    }
    const tests = [...steps].filter(([file]) => file.endsWith(".test.ts"));
    // Further away stand tests of whole engines and gateways: minutes for what they hardly touch.
    const near = Math.min(...tests.map(([, step]) => step)) + 1;
    return nearestFirst(
      source,
      tests.filter(([, step]) => step <= near).map(([file]) => file),
    );
  };
}

/**
 * Its own test sees a source first, and then those that lie beside it, above it, and so on by the folders between them: a
 * room's parts are often tested where the room is entered, and of many tests only the first are asked.
 */
export function nearestFirst(source, tests) {
  const own = source.replace(/\.ts$/, ".test.ts");
  const between = (test) => relative(dirname(source), dirname(test)).split("/").filter(Boolean);
  const distance = (test) => (test === own ? -1 : between(test).length);
  return tests.toSorted((left, right) => distance(left) - distance(right));
}

function pathOf(name, file, packages) {
  if (name.startsWith(".")) return resolve(dirname(file), name);
  const [, owner, path] = /^@gateway\/([^/]+)\/(.+)$/.exec(name) ?? [];
  return owner === undefined ? undefined : join(packages, owner, "src", path);
}
