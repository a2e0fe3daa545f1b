/** How a client's or an engine's SQL text is cut into tokens. */
export type SqlDialect = "duckdb" | "postgres" | "mysql" | "trino" | "clickhouse" | "generic";
