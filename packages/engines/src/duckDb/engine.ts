/** The DuckDB engine as the catalog lists it. */
import { engine } from "../descriptor.ts";
import { duckDbConfig } from "./config.ts";

export const duckDb = engine({
  kind: "duckDb",
  title: "DuckDB (embedded)",
  config: duckDbConfig,
  queryAuth: ["serviceAccount"],
  slotsFreedBy: () => "process",
  load: () => import("./adapter.ts"),
});
