/** Test suites of Go modules, from the Go module proxy. */
import { rmSync } from "node:fs";
import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "./command.mjs";

/** Puts a module's source, `path@version`, into a folder of its own that is gone with the process; answers `{folder}` or `{reason}`. */
export async function goModule(module) {
  if ((await command("go", ["version"])).code !== 0) return { reason: "there is no go" };
  const folder = await mkdtemp(join(tmpdir(), "gateway-go-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const args = ["mod", "download", "-json", module];
  const downloaded = await command("go", args, { cwd: folder });
  if (downloaded.code !== 0) {
    return { reason: `go mod download failed: ${downloaded.stdout.slice(0, 200)}` };
  }
  await cp(JSON.parse(downloaded.stdout).Dir, folder, { recursive: true });
  await command("chmod", ["-R", "u+w", folder]);
  return { folder };
}

/** Compiles the tests of one package of it to a program; true, or the reason. */
export async function compileGoTests(folder, at, program) {
  const args = ["test", "-c", "-o", program, `./${at}`];
  const built = await command("go", args, { cwd: folder, seconds: 240 });
  return built.code === 0 || `go test -c failed: ${built.stderr.slice(0, 200)}`;
}
