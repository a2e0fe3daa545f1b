/** ADBC drivers as shared libraries, taken out of their PyPI wheels. Python installs them and is not needed to run them. */
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "./command.mjs";

const versions = {
  snowflake: "1.11.0",
  postgresql: "1.13.0",
  sqlite: "1.13.0",
  flightsql: "1.13.0",
};
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");

/** Folder of the libraries. */
export const driverFolder = join(cache, "adbc");

/** Brings every library; true, or the reason why one can not be had. */
export async function installDrivers() {
  if ((await command("python3", ["-m", "pip", "--version"])).code !== 0) return "there is no pip";
  await mkdir(driverFolder, { recursive: true });
  for (const [name, version] of Object.entries(versions)) {
    const library = join(driverFolder, `libadbc_driver_${name}.so`);
    if (existsSync(library)) continue;
    const reason = await takeOut(name, version, library);
    if (reason !== undefined) return reason;
  }
  return true;
}

async function takeOut(name, version, library) {
  const folder = await mkdtemp(join(tmpdir(), "gateway-adbc-"));
  try {
    const wheel = `adbc-driver-${name}==${version}`;
    const only = ["--no-deps", "--only-binary=:all:", "-q", "-d", folder];
    const pip = ["-m", "pip", "download", ...only, wheel];
    const downloaded = await command("python3", pip, { seconds: 180 });
    if (downloaded.code !== 0) return `pip download ${wheel} failed`;
    const unpacked = await command("python3", ["-c", unpack, folder, name], { seconds: 60 });
    if (unpacked.code !== 0) return `the wheel of ${name} holds no library`;
    // The temporary folder may be on another disk.
    await copyFile(join(folder, "library"), `${library}.part`);
    await rename(`${library}.part`, library);
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const unpack = `
import glob, os, sys, zipfile
folder, name = sys.argv[1:]
with zipfile.ZipFile(glob.glob(folder + "/*.whl")[0]) as wheel:
    entry = next(e for e in wheel.namelist() if os.path.basename(e) == f"libadbc_driver_{name}.so")
    with open(folder + "/library", "wb") as out:
        out.write(wheel.read(entry))
`;
