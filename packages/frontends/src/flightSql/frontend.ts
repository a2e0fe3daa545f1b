/** The Flight SQL frontend as the catalog lists it. */
import { frontend } from "../descriptor.ts";
import { flightConfig } from "./config.ts";

export const flightSql = frontend({
  kind: "flightSql",
  title: "Flight SQL",
  config: flightConfig,
  load: () => import("./listen.ts"),
});
