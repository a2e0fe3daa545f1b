/** What the configuration refused, as lines for a terminal. */
import type { ConfigRefusal } from "@gateway/control/config/configuration.ts";

export function refusalLines(refusal: ConfigRefusal): readonly string[] {
  switch (refusal.code) {
    case "invalid":
      return refusal.faults.map(({ path, reason }) =>
        path === "" ? reason : `${path}: ${reason}`,
      );
    case "lostUpdate":
      return ["somebody else changed the configuration at the same time; run it again"];
    case "missing":
      return ["there is no such object"];
    case "unavailable":
      return [`the database is not available (${refusal.detail})`];
  }
}
