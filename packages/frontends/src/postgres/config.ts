/** Config of the PostgreSQL frontend: the fields every listener has, with PostgreSQL's port. */
import { listenerShape } from "@gateway/contract/config/listener.ts";
import { z } from "zod";

const defaultPort = 5432;
const defaultMessageBytes = 8 * 1024 * 1024;

export const postgresConfig = z
  .strictObject(listenerShape(defaultPort, defaultMessageBytes))
  .meta({ title: "PostgreSQL", description: "The PostgreSQL wire protocol, version 3." });

export type PostgresConfig = z.output<typeof postgresConfig>;
