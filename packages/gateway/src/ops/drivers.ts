/**
 * Whether the drivers that this installation is said to have are there, asked before anything is opened: an image
 * without them must not take the place of one that has them.
 */
import { findLibrary } from "@gateway/engines/adbc/client/library.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { StartFault } from "../starting.ts";

/** One for each driver of `gateway.adbc.drivers` that is in none of the folders. */
export async function driverFaults(
  { adbc }: Pick<GatewayConfig, "adbc">,
  folders: readonly string[],
): Promise<readonly StartFault[]> {
  const found = await Promise.all(
    (adbc.drivers ?? []).map((driver) => findLibrary({ driver, entrypoint: undefined }, folders)),
  );
  return found.flatMap((library, index) =>
    library.ok ? [] : [{ part: `gateway.adbc.drivers[${index}]`, reason: library.error }],
  );
}
