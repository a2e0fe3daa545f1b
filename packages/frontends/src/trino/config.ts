/** Config of the Trino frontend: the fields every listener has, with Trino's port. */
import { listenerShape } from "@gateway/contract/config/listener.ts";
import { z } from "zod";

const defaultPort = 8080;
const defaultMessageBytes = 8 * 1024 * 1024;

export const trinoConfig = z
  .strictObject(listenerShape(defaultPort, defaultMessageBytes))
  .meta({ title: "Trino", description: "Trino's HTTP client protocol, version 1." });

export type TrinoConfig = z.output<typeof trinoConfig>;
