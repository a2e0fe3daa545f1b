/** Where libraries of ADBC drivers are looked for: beside the config, in `ADBC_DRIVER_PATH`, in the Python environment. */
import { delimiter, dirname, isAbsolute, resolve } from "node:path";

/** Folders in the order they are looked into. Relative entries of the variable are left out: they mean what the caller's folder is. */
export function libraryFolders(
  configFile: string,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const listed = (environment["ADBC_DRIVER_PATH"] ?? "").split(delimiter);
  const python = [environment["VIRTUAL_ENV"], environment["CONDA_PREFIX"]];
  const named = [...listed, ...python].filter(
    (folder) => folder !== undefined && isAbsolute(folder),
  );
  return [dirname(resolve(configFile)), ...named.map(String)];
}
