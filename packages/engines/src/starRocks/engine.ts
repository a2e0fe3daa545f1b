/** The StarRocks engine as the catalog lists it. */
import { engine } from "../descriptor.ts";
import { starRocksConfig } from "./config.ts";

export const starRocks = engine({
  kind: "starRocks",
  title: "StarRocks",
  config: starRocksConfig,
  queryAuth: ["serviceAccount", "passthrough"],
  load: () => import("./adapter.ts"),
});
