/** The ADBC engine as the catalog lists it. */
import { engine } from "../descriptor.ts";
import { adbcConfig } from "./config.ts";

export const adbc = engine({
  kind: "adbc",
  title: "ADBC driver",
  config: adbcConfig,
  queryAuth: ["serviceAccount", "passthrough", "tokenExchange"],
  load: () => import("./adapter.ts"),
});
