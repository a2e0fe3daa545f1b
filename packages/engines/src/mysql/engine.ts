/** The MySQL engine as the catalog lists it. */
import { engine } from "../descriptor.ts";
import { mysqlConfig } from "./config.ts";

export const mysql = engine({
  kind: "mysql",
  title: "MySQL",
  config: mysqlConfig,
  queryAuth: ["serviceAccount", "passthrough"],
  // The list of one server shows nothing of another, where a statement may still run after a failover.
  slotsFreedBy: ({ queryAuth, hosts }) =>
    (queryAuth?.type ?? "serviceAccount") === "serviceAccount" && hosts.length === 1
      ? "listing"
      : "hand",
  load: () => import("./adapter.ts"),
});
