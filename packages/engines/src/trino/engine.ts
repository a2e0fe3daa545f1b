/** The Trino engine as the catalog lists it. */
import { engine } from "../descriptor.ts";
import { trinoConfig } from "./config.ts";

export const trino = engine({
  kind: "trino",
  title: "Trino",
  config: trinoConfig,
  queryAuth: ["serviceAccount", "passthrough", "impersonate", "tokenExchange"],
  slotsFreedBy: ({ queryAuth }) =>
    (queryAuth?.type ?? "serviceAccount") === "serviceAccount" ? "listing" : "limit",
  load: () => import("./adapter.ts"),
});
