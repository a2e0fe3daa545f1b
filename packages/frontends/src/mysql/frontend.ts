/** The MySQL frontend as the catalog lists it. */
import { frontend } from "../descriptor.ts";
import { mysqlConfig } from "./config.ts";

export const mysqlWire = frontend({
  kind: "mysqlWire",
  title: "MySQL",
  config: mysqlConfig,
  load: () => import("./listen.ts"),
});
