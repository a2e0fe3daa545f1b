/**
 * Where the library of a driver lies: at its path, beside the config, in a folder of
 * `ADBC_DRIVER_PATH`, or among the packages of a Python environment. DuckDB's comes with the gateway.
 */
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { duckDbDriver } from "../../duckDb/library/library.ts";
import type { DriverLibrary } from "../../native/message.ts";
import { driverNames, knownDriver, type AdbcConfig } from "../config.ts";

const endings = ["so", "dylib", "dll"];

/** The library of a cluster's driver, or the places that were looked at. `folders` in the order they are looked into. */
export async function findLibrary(
  { driver, entrypoint }: Pick<AdbcConfig, "driver" | "entrypoint">,
  folders: readonly string[],
): Promise<Result<DriverLibrary, string>> {
  const known = knownDriver(driver);
  const isDuckDb = known === "duckdb";
  const start = entrypoint ?? (isDuckDb ? "duckdb_adbc_init" : "AdbcDriverInit");
  const libraryAt = (library: string): DriverLibrary => ({
    library,
    entrypoint: start,
    inspect: isDuckDb ? "duckDb" : "none",
  });
  if (!driverNames.some((name) => name === driver)) {
    const found = await existing(driver);
    return found === undefined ? err(`${driver} is not there`) : ok(libraryAt(found));
  }
  for (const folder of folders) {
    for (const file of await placesIn(folder, driver)) {
      const found = await existing(file);
      if (found !== undefined) return ok(libraryAt(found));
    }
  }
  if (isDuckDb) return duckDbDriver();
  const looked = folders.length === 0 ? "no folder" : folders.join(", ");
  return err(
    `no library of the driver ${driver}; looked into ${looked} (the folder of the config, ADBC_DRIVER_PATH, VIRTUAL_ENV) for libadbc_driver_${driver}.so`,
  );
}

/** Files of the names that drivers are known to have, in the order they are tried. */
async function placesIn(folder: string, driver: string): Promise<readonly string[]> {
  const names = [`libadbc_driver_${driver}`, `adbc_driver_${driver}`, `lib${driver}`];
  const packages = await pythonPackages(folder);
  const folders = [folder, ...packages.map((one) => join(one, `adbc_driver_${driver}`))];
  return folders.flatMap((one) =>
    names.flatMap((name) => endings.map((ending) => join(one, `${name}.${ending}`))),
  );
}

/** Where a Python environment, or a folder of packages, keeps its packages. */
async function pythonPackages(folder: string): Promise<readonly string[]> {
  try {
    const versions = await readdir(join(folder, "lib"));
    const pythons = versions.filter((name) => name.startsWith("python3"));
    return [folder, ...pythons.map((name) => join(folder, "lib", name, "site-packages"))];
  } catch {
    return [folder];
  }
}

async function existing(path: string): Promise<string | undefined> {
  return await realpath(path).catch(() => undefined);
}
