/**
 * Programs of Debian's unstable release, unpacked into a folder of their own: nothing of the machine
 * is changed, so they run by their own loader with their own libraries.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { command } from "./command.mjs";

const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** Fetches packages with all they need into the cache, once. True, or the reason why they can not be had. */
export async function unpackNewer(name, packages) {
  const place = join(cache, name);
  if (existsSync(join(place, ".complete"))) return true;
  if ((await command("apt-get", ["--version"])).code !== 0) return "there is no apt-get";
  const mirror = await mirrorOf();
  if (mirror === undefined) return "apt-get knows no mirror of Debian";
  await rm(place, { recursive: true, force: true });
  const apt = join(place, "apt");
  await aptFolder(apt, mirror);
  // A mirror may lag behind the date until which its index is valid.
  const options = ["-q", "-y", "-o", `Dir=${apt}`, "-o", "Acquire::Check-Valid-Until=false"];
  if (process.getuid?.() === 0) options.push("-o", "APT::Sandbox::User=root");
  const updated = await command("apt-get", [...options, "update"], { seconds: 180 });
  if (updated.code !== 0) return `apt-get update failed: ${lastLine(updated.stderr)}`;
  const args = ["install", "--no-install-recommends", "--download-only", ...packages];
  const fetched = await command("apt-get", [...options, ...args], { seconds: 300 });
  if (fetched.code !== 0) return `apt-get install failed: ${lastLine(fetched.stderr)}`;
  const archives = join(apt, "var/cache/apt/archives");
  for (const file of await readdir(archives)) {
    if (!file.endsWith(".deb")) continue;
    const unpacked = await command("dpkg-deb", ["-x", join(archives, file), join(place, "root")]);
    if (unpacked.code !== 0) return `dpkg-deb failed: ${lastLine(unpacked.stderr)}`;
  }
  await rm(apt, { recursive: true });
  await writeFile(join(place, ".complete"), "");
  return true;
}

/** Where the packages of `unpackNewer` lie, as they would under `/usr`. */
export function newerFolder(name) {
  return join(cache, name, "root", "usr");
}

/** What runs a program of the folder: the loader, and its arguments up to the program's own. */
export async function newerProgram(name, program) {
  const usr = newerFolder(name);
  for (const folder of await readdir(join(usr, "lib"))) {
    const libraries = join(usr, "lib", folder);
    const files = await readdir(libraries).catch(() => []);
    const loader = files.find((file) => /^ld-linux.*\.so\.\d+$/.test(file));
    if (loader === undefined) continue;
    const args = ["--library-path", libraries, join(usr, program)];
    return { program: join(libraries, loader), args };
  }
  throw new Error(`no loader in ${usr}/lib`);
}

/** The mirror that this machine's own apt-get uses. */
async function mirrorOf() {
  const asked = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"];
  const { stdout } = await command("apt-get", asked);
  return stdout.split("\n").find((line) => /\/debian\/?$/.test(line));
}

/** An apt-get of its own, on which nothing is installed. */
async function aptFolder(apt, mirror) {
  for (const folder of [
    "etc/apt/preferences.d",
    "etc/apt/apt.conf.d",
    "var/lib/apt/lists/partial",
    "var/cache/apt/archives/partial",
    "var/lib/dpkg",
  ]) {
    await mkdir(join(apt, folder), { recursive: true });
  }
  await writeFile(join(apt, "var/lib/dpkg/status"), "");
  const source = `deb [signed-by=${keyring}] ${mirror} sid main\n`;
  await writeFile(join(apt, "etc/apt/sources.list"), source);
}

function lastLine(text) {
  return text.trim().split("\n").at(-1) ?? "";
}
