/**
 * Says where a query would go and why, with the routes that queries really take.
 *
 * Opens nothing, runs nothing, and does not look at clusters: whether one of the group's clusters is up
 * shows only when a query asks. It takes the identity from the question; nobody is logged in.
 */
import type { RoutingStep } from "@gateway/contract/record.ts";
import type { Authorizer } from "../port/authorizer.ts";
import type { Query, QueryId } from "../query/query.ts";
import type { Dialect } from "../sql/dialect.ts";
import { readStatement } from "../sql/statement.ts";
import type { AskScript } from "./rule/ask.ts";
import { compileRoutes, type RoutesConfig } from "./route.ts";

export interface RouteQuestion {
  readonly sql: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  readonly frontend: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Names in any case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface RouteExplanation {
  /** Undefined when the query would be refused, and when this process can not know. */
  readonly group: string | undefined;
  readonly refusal: { readonly code: string; readonly message: string } | undefined;
  /** The group that the allow lists admit, where an authorizer that this process did not ask has a say too. */
  readonly undecided?: string | undefined;
  readonly trace: readonly RoutingStep[];
}

/** Who decides beside the rules. `complete` is false when an authorizer is missing here: then a refusal is certain, but a yes is not. */
export interface ExplainedBy {
  readonly authorizer: Authorizer;
  readonly ask: AskScript;
  readonly complete: boolean;
}

/** Compiles the routes of a checked configuration once; the returned function explains any number of questions. */
export function routeExplainer(
  config: RoutesConfig,
  { authorizer, ask, complete }: ExplainedBy,
): (question: RouteQuestion) => Promise<RouteExplanation> {
  const routes = compileRoutes(config, authorizer, ask);
  return async (question) => {
    const trace: RoutingStep[] = [];
    const routed = await routes.route(queryOf(question), trace, new AbortController().signal);
    if (!routed.ok) {
      const { code, message } = routed.error;
      return { group: undefined, refusal: { code, message }, trace };
    }
    const { group } = routed.value;
    if (complete) return { group, refusal: undefined, trace };
    return { group: undefined, refusal: undefined, undecided: group, trace };
  };
}

/** The dialect of each frontend. No rule looks at it today; one that will must see the same as with a real query. */
const frontendDialects: ReadonlyMap<string, Dialect> = new Map([
  ["trinoHttp", "trino"],
  ["postgresWire", "postgres"],
  ["mysqlWire", "duckdb"],
  ["clickhouseHttp", "clickhouse"],
]);

function queryOf(question: RouteQuestion): Query {
  const { sql, user, groups, roles, frontend, tags, headers } = question;
  const dialect = frontendDialects.get(frontend) ?? "generic";
  return {
    id: "explain" as QueryId,
    sql,
    statement: readStatement(sql, dialect),
    parameters: [],
    takes: [],
    receivedAtMs: 0,
    session: {
      frontend,
      identity: { user, groups, roles, method: "none" },
      credential: { kind: "none" },
      clientAddress: "unknown",
      dialect,
      catalog: undefined,
      schema: undefined,
      settings: new Map(),
      tags: new Map(Object.entries(tags)),
      headers: new Map(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const),
      ),
      pin: undefined,
    },
  };
}
