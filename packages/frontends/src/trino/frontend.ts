/** The Trino frontend as the catalog lists it. */
import { frontend } from "../descriptor.ts";
import { trinoConfig } from "./config.ts";

export const trinoHttp = frontend({
  kind: "trinoHttp",
  title: "Trino",
  config: trinoConfig,
  load: () => import("./listen.ts"),
});
