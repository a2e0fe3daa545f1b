/** The StarRocks engine as the catalog lists it. */
import { engine } from "../descriptor.ts";
import { starRocksConfig } from "./config.ts";

export const starRocks = engine({
  kind: "starRocks",
  title: "StarRocks",
  config: starRocksConfig,
  queryAuth: ["serviceAccount", "passthrough"],
  slotsFreedBy: ({ queryAuth }) =>
    (queryAuth?.type ?? "serviceAccount") === "serviceAccount" ? "listing" : "limit",
  load: () => import("./adapter.ts"),
});
