/**
 * Compiles the bundle ahead of its first start, for the image: what V8 makes of each file goes into `compiled` beside `dist`, where
 * a Node that is started with NODE_COMPILE_CACHE takes it. It runs with the Node and at the place of the image, because both
 * are part of the keys.
 *
 * V8 takes such code only under the flags it was made with. So what a child process runs is made first, then the command line is run
 * as far as its help, which sets the flags of a gateway, and then all other parts are made. Parts are read and not run: an import
 * that names what does not exist is refused when everything has been compiled.
 *
 * The same files become the same bytes: with a seed V8's hashes of texts, which lie in the code, are no more by chance. What still
 * comes out otherwise a second time is left out, and compiled by each start that asks for it.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const app = fileURLToPath(new URL("..", import.meta.url));
const dist = join(app, "dist");
/** Who will run it, by number. */
const [, , user = process.getuid?.()] = process.argv;
const seed = "--random-seed=1";
/** Loaded with the first client of a kind, or for a document that few ask for: no start waits for them. V8 makes
 * other bytes of `ldap` each time. */
const later =
  /^(?:serve|protocol|openapi|routeSchemas|arktype|default|effect|sury|typebox|valibot|zod|ldap)-/;

if (process.execArgv.includes(seed)) await compile();
else if (hasCache()) again();
else console.log(`Node ${process.version} takes no code that was compiled ahead`);

function hasCache() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 1);
}

function again() {
  const folder = join(app, "compiled");
  const second = join(app, "compiled.again");
  for (const one of [folder, second]) {
    rmSync(one, { recursive: true, force: true });
    mkdirSync(one);
    const env = { ...process.env, NODE_COMPILE_CACHE: one };
    const args = [seed, fileURLToPath(import.meta.url)];
    const stdio = ["ignore", "ignore", "inherit"];
    const { status } = spawnSync(process.execPath, args, { env, stdio });
    if (status !== 0) throw new Error(`the bundle was not compiled: ${status}`);
  }
  for (const path of readdirSync(folder, { recursive: true })) {
    const file = join(folder, path);
    if (!statSync(file).isFile()) continue;
    const same = readFileSync(file).equals(readFileSync(join(second, path)));
    // Node writes them for whoever runs it alone.
    if (same) chmodSync(file, 0o644);
    else rmSync(file);
  }
  rmSync(second, { recursive: true });
  // Node looks in a folder whose name ends with its user.
  for (const name of readdirSync(folder)) {
    renameSync(join(folder, name), join(folder, name.replace(/-\d+$/, `-${user}`)));
  }
}

async function compile() {
  await read(["adbcProcess.js", "adbcThread.js"]);
  const exit = process.exit.bind(process);
  process.exit = () => {};
  process.argv = [process.execPath, "gateway", "help"];
  await import(urlOf("gateway.js"));
  process.exit = exit;
  const parts = readdirSync(join(dist, "parts")).filter(
    (name) => name.endsWith(".js") && !later.test(name),
  );
  const threads = readdirSync(dist).filter((name) => name.endsWith("Thread.js"));
  await read([...parts.map((name) => `parts/${name}`), ...threads]);
  // Written when the process ends.
  exit(0);
}

async function read(files) {
  const imports = files.map((file) => `import ${JSON.stringify(urlOf(file))};`);
  const refused = 'import { nothingOfThisName } from "node:os";';
  const text = `${imports.join("")}${refused}`;
  try {
    await import(`data:text/javascript,${encodeURIComponent(text)}`);
  } catch (error) {
    if (!(error instanceof SyntaxError) || !error.message.includes("nothingOfThisName"))
      throw error;
  }
}

function urlOf(file) {
  return pathToFileURL(join(dist, file)).href;
}
