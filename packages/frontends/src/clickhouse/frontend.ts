/** The ClickHouse frontend as the catalog lists it. */
import { frontend } from "../descriptor.ts";
import { clickhouseConfig } from "./config.ts";

export const clickhouseHttp = frontend({
  kind: "clickhouseHttp",
  title: "ClickHouse",
  config: clickhouseConfig,
  load: () => import("./listen.ts"),
});
