/** The ADBC engine as the catalog lists it. */
import { engine } from "../descriptor.ts";
import { adbcConfig, knownDriver } from "./config.ts";
import { profileOf } from "./profile.ts";

export const adbc = engine({
  kind: "adbc",
  title: "ADBC driver",
  config: adbcConfig,
  queryAuth: ["serviceAccount", "passthrough", "tokenExchange"],
  slotsFreedBy: ({ driver }) => {
    const { isolated, runningSql, limit } = profileOf(knownDriver(driver));
    if (!isolated) return "process";
    if (runningSql !== undefined) return "listing";
    return limit === undefined ? "hand" : "limit";
  },
  load: () => import("./adapter.ts"),
});
