/** The PostgreSQL engine as the catalog lists it. */
import { engine } from "../descriptor.ts";
import { postgresqlConfig } from "./config.ts";

export const postgresql = engine({
  kind: "postgresql",
  title: "PostgreSQL",
  config: postgresqlConfig,
  queryAuth: ["serviceAccount", "passthrough"],
  // The list of one server shows nothing of another, where a statement may still run after a failover.
  slotsFreedBy: ({ queryAuth, hosts }) =>
    (queryAuth?.type ?? "serviceAccount") === "serviceAccount" && hosts.length === 1
      ? "listing"
      : "hand",
  load: () => import("./adapter.ts"),
});
