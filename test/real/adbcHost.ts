/** Clusters behind real ADBC drivers, whose libraries lie in the folder that the environment names. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { open } from "@gateway/engines/adbcDriver/adapter.ts";
import { adbcConfig } from "@gateway/engines/adbcDriver/config.ts";
import { hostOf, valueOf } from "@gateway/engines/engine.suite.ts";

const folder = process.env["GATEWAY_TEST_ADBC"] ?? "";
let clusters = 0;

/** A host that finds the drivers. */
export function driverHost(): Host {
  return { ...hostOf(), libraryFolders: [folder] };
}

/** A cluster of its own for each call. */
export async function clusterOf(config: object): Promise<Backend> {
  const parsed = adbcConfig.parse({ engine: "adbc", poolSize: 1, ...config });
  return valueOf(await open(`real${(clusters += 1)}`, parsed, driverHost()));
}
