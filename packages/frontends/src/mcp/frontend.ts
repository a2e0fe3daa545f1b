/** The MCP frontend as the catalog lists it. */
import { frontend } from "../descriptor.ts";
import { mcpConfig } from "./config.ts";

export const mcp = frontend({
  kind: "mcp",
  title: "MCP",
  config: mcpConfig,
  load: () => import("./listen.ts"),
});
