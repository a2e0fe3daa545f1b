/** The Snowflake frontend as the catalog lists it. */
import { frontend } from "../descriptor.ts";
import { snowflakeConfig } from "./config.ts";

export const snowflakeHttp = frontend({
  kind: "snowflakeHttp",
  title: "Snowflake",
  config: snowflakeConfig,
  load: () => import("./listen.ts"),
});
