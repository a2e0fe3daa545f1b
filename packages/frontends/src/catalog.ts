/** Every frontend this build knows, by its key in the config. Adding one is a folder and a line here. */
import { clickhouseHttp } from "./clickhouse/frontend.ts";
import { flightSql } from "./flightSql/frontend.ts";
import { mcp } from "./mcp/frontend.ts";
import { mysqlWire } from "./mysql/frontend.ts";
import { postgresWire } from "./postgres/frontend.ts";
import { snowflakeHttp } from "./snowflake/frontend.ts";
import { trinoHttp } from "./trino/frontend.ts";

export const frontends = {
  trinoHttp,
  postgresWire,
  mysqlWire,
  flightSql,
  snowflakeHttp,
  clickhouseHttp,
  mcp,
} as const;
