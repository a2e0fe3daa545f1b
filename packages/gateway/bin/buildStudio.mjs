/**
 * Builds the web console with Vite into `packages/studio/dist`, when a source of it is newer than what lies there.
 * A page alone has no use for it, so nothing else calls Vite.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const studio = join(root, "packages/studio");

/** Answers whether it was built. */
export async function buildStudio() {
  if (changedMs(join(studio, "dist/index.html")) > newestSourceMs()) return false;
  const { build } = await import("vite");
  // A runner of tests says "test", by which Vite would take the libraries as for developing: twice as slow.
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = "production";
  try {
    await build({ configFile: join(studio, "vite.config.ts"), logLevel: "warn" });
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
  return true;
}

function newestSourceMs() {
  const folders = ["src", "public"].flatMap((folder) =>
    readdirSync(join(studio, folder), { recursive: true })
      .filter((path) => !/\.test\.tsx?$/.test(path))
      .map((path) => join(studio, folder, path)),
  );
  const files = ["index.html", "vite.config.ts"].map((name) => join(studio, name));
  const lock = join(root, "package-lock.json");
  return Math.max(...[...folders, ...files, lock].map(changedMs));
}

function changedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildStudio();
