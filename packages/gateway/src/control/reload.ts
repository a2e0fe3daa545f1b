/** SIGHUP: where nothing but the file holds the configuration, the file is read again. */
import type { Configuration } from "@gateway/control/config/configuration.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { Running } from "../running.ts";
import { fileAuthor } from "./firstConfig.ts";
import { refusalLines } from "./refusalText.ts";

/** Answers what was refused; empty when the file is what is served now. */
export function reloadFrom(
  { persistence }: GatewayConfig,
  configuration: Pick<Configuration, "import">,
): Running["reload"] {
  if (persistence.type !== "inMemory") return undefined;
  return async (file) => {
    const taken = await configuration.import(file, fileAuthor);
    return taken.ok ? [] : refusalLines(taken.error);
  };
}
