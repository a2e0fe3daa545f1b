/** A query for tests of routing: alice over Trino, unless told. */
import type { Query, QueryId } from "../../query/query.ts";
import { readStatement } from "../../sql/statement.ts";

export interface QueryTraits {
  readonly sql?: string;
  readonly frontend?: string;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
}

export function queryOf({
  sql = "SELECT 1",
  frontend = "trinoHttp",
  user = "alice",
  groups = [],
  headers = {},
  tags = {},
}: QueryTraits): Query {
  return {
    id: "q" as QueryId,
    sql,
    statement: readStatement(sql, "trino"),
    parameters: [],
    takes: [],
    receivedAtMs: 0,
    session: {
      frontend,
      identity: { user, groups, roles: [], method: "none" },
      credential: { kind: "none" },
      clientAddress: "127.0.0.1",
      dialect: "trino",
      catalog: undefined,
      schema: undefined,
      settings: new Map(),
      tags: new Map(Object.entries(tags)),
      headers: new Map(Object.entries(headers)),
      pin: undefined,
    },
  };
}
