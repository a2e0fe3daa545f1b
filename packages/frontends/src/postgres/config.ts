/** Config of the PostgreSQL frontend: the fields every listener has, with PostgreSQL's port. */
import { ownWordsShape } from "@gateway/contract/config/listener.ts";
import { z } from "zod";

const defaultPort = 5432;
const defaultMessageBytes = 64 * 1024 * 1024;

const catalog = z.enum(["auto", "mirror", "backend", "off"]).default("auto").meta({
  title: "Catalog",
  description:
    "Who answers statements over pg_catalog and information_schema: mirror (a small PostgreSQL in a thread of the gateway with empty tables like those of the backend; takes about 300 MB while it is used, and at most twice that), backend (the engine itself), auto (the engine where every one that the session may reach is a PostgreSQL, else the mirror), or off (they are refused). Clients ask as of a PostgreSQL 16: for servers before 15, mirror.",
});

export type CatalogMode = z.output<typeof catalog>;

export const postgresConfig = z
  .strictObject({ ...ownWordsShape(defaultPort, defaultMessageBytes, "postgresql"), catalog })
  .meta({ title: "PostgreSQL", description: "The PostgreSQL wire protocol, version 3." });

export type PostgresConfig = z.output<typeof postgresConfig>;
