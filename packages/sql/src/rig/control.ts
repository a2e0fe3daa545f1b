/** Access control with the real parser in the test's own thread. */
import { init } from "@polyglot-sql/sdk";
import { accessControlSchema } from "@gateway/contract/config/accessControl.ts";
import { accessControl } from "@gateway/core/police/accessControl.ts";
import { rulesPolicy } from "@gateway/core/police/rules.ts";
import type { Catalog } from "@gateway/core/port/sql/catalog.ts";
import type { Policy } from "@gateway/core/port/sql/policy.ts";
import type { SqlWork } from "@gateway/core/port/sql/sqlWork.ts";
import type { UserAttributes } from "@gateway/core/query/identity.ts";
import type { Routed } from "@gateway/core/query/query.ts";
import { ok } from "@gateway/core/result.ts";
import { sessionOf } from "@gateway/core/rig/session.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { done } from "../thread/tasks.ts";

await init();

/** Parses where it is asked. */
export const parserHere: SqlWork = {
  ask: async ({ task, input }) => ok(done({ task, input } as Parameters<typeof done>[0]) as never),
};

export interface Caller {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly attributes?: UserAttributes;
  readonly dialect?: Dialect;
  readonly engine?: Dialect;
  readonly catalog?: string;
  readonly schema?: string;
}

/** Answers the text that may run, or the words of the refusal behind `denied: `. */
export function controlOf(
  config: object,
  more: {
    readonly policy?: Policy;
    readonly catalog?: Catalog;
    readonly sql?: SqlWork;
    readonly nowMs?: () => number;
  } = {},
): (sql: string, caller?: Caller) => Promise<string> {
  const parsed = accessControlSchema.parse({ provider: "rules", defaultSchema: "main", ...config });
  const own = parsed.provider === "rules" ? rulesPolicy(parsed.rules) : undefined;
  const policy = more.policy ?? own;
  if (policy === undefined) throw new Error("a policy server has to be given");
  const clock = more.nowMs && { nowMs: more.nowMs };
  const { catalog, sql: work = parserHere } = more;
  const control = accessControl(parsed, { policy, catalog, sql: work, clock });
  const { signal } = new AbortController();
  return async (sql, { engine, ...caller } = {}) => {
    const query = routedOf(sql, caller);
    const { dialect } = query.session;
    const log = { acted: () => {} };
    const judged = await control.judge(query, [engine ?? dialect], log, signal);
    return judged.ok ? judged.value : `denied: ${judged.error.message}`;
  };
}

function routedOf(sql: string, caller: Caller): Routed {
  const { user = "ann", groups = [], attributes, dialect = "duckdb", catalog, schema } = caller;
  const session = sessionOf({
    identity: { user, groups, roles: [], attributes, method: "static" },
    dialect,
    catalog,
    schema,
  });
  return {
    id: "q" as Routed["id"],
    sql,
    statement: readStatement(sql, dialect),
    parameters: [],
    session,
    takes: [],
    receivedAtMs: 0,
    group: "main",
    trace: [],
  };
}
