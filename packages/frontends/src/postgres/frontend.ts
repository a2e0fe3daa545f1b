/** The PostgreSQL frontend as the catalog lists it. */
import { frontend } from "../descriptor.ts";
import { postgresConfig } from "./config.ts";

export const postgresWire = frontend({
  kind: "postgresWire",
  title: "PostgreSQL",
  config: postgresConfig,
  load: () => import("./listen.ts"),
});
