/** Every address of a name, by the system's own look-up (which also reads the hosts file). */
import { lookup } from "node:dns/promises";

/** Empty when there is none, or when it can not be found out. */
export async function resolveAll(name: string): Promise<readonly string[]> {
  try {
    const found = await lookup(name, { all: true, order: "verbatim" });
    return [...new Set(found.map(({ address }) => address))];
  } catch {
    // No such name, or no name server: there is nobody to ask either way.
    return [];
  }
}
