/** The ClickHouse engine as the catalog lists it. */
import { engine } from "../descriptor.ts";
import { clickHouseConfig } from "./config.ts";

export const clickHouse = engine({
  kind: "clickHouse",
  title: "ClickHouse",
  config: clickHouseConfig,
  queryAuth: ["serviceAccount", "impersonate"],
  slotsFreedBy: ({ queryAuth }) => (queryAuth?.type === "impersonate" ? "hand" : "listing"),
  load: () => import("./adapter.ts"),
});
