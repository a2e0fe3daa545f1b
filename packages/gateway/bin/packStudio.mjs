/**
 * Puts the web console, as it was built last, beside the bundle: each text also compressed, so that the admin
 * listener sends it as it lies there. Nothing where it was not built.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { cp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const built = join(root, "packages/studio/dist");
const packed = join(root, "packages/gateway/dist/studio");

const text = /\.(?:html|js|css|svg|json|webmanifest|txt)$/;
/** What is smaller fits a packet as it is. */
const bytesMin = 1_024;

/** Answers whether there is a console beside the bundle now. */
export async function packStudio() {
  if (!existsSync(join(built, "index.html"))) return existsSync(join(packed, "index.html"));
  if (isNewer(packed, built)) return true;
  const draft = `${packed}.${process.pid}`;
  await cp(built, draft, { recursive: true, filter: (path) => !path.endsWith(".map") });
  for (const name of readdirSync(draft, { recursive: true })) {
    const path = join(draft, name);
    if (!text.test(name) || statSync(path).size < bytesMin) continue;
    const bytes = await readFile(path);
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    await writeFile(`${path}.br`, brotliCompressSync(bytes, { params }));
    await writeFile(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
  await rm(packed, { recursive: true, force: true });
  await rename(draft, packed);
  return true;
}

function isNewer(one, other) {
  return changedMs(one) > changedMs(other);
}

function changedMs(folder) {
  return statSync(join(folder, "index.html"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
