/** Where the DuckDB library lies: inside the package that npm installs for this platform. */
import { createRequire } from "node:module";
import { arch, platform } from "node:process";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { DriverLibrary } from "../../native/message.ts";

const fileNames: Readonly<Record<string, string>> = {
  linux: "libduckdb.so",
  darwin: "libduckdb.dylib",
  win32: "duckdb.dll",
};

/** The driver inside the library, or why it is not there. */
export function duckDbDriver(): Result<DriverLibrary, string> {
  const file = fileNames[platform];
  if (file === undefined) return err(`no DuckDB library for ${platform}`);
  const name = `@duckdb/node-bindings-${platform}-${arch}`;
  // npm installs the one of the two that fits the machine's C library.
  const library = resolved(`${name}/${file}`) ?? resolved(`${name}-musl/${file}`);
  if (library === undefined) return err(`${name} is not installed`);
  return ok({ library, entrypoint: "duckdb_adbc_init", inspect: "duckDb" });
}

/** The platform's package is a dependency of the bindings, which need not lie beside us. */
function resolved(name: string): string | undefined {
  try {
    const ours = createRequire(import.meta.url);
    return createRequire(ours.resolve("@duckdb/node-bindings/package.json")).resolve(name);
  } catch {
    return undefined;
  }
}
