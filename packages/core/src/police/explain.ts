/** Says what access control would make of a statement that nobody runs, and why. The caller is taken from the question; nobody is logged in. */
import type { AccessControlConfig } from "@gateway/contract/config/accessControl.ts";
import type { UserAttributes } from "../query/identity.ts";
import type { QueryId, Routed } from "../query/query.ts";
import type { Dialect } from "../sql/dialect.ts";
import { readStatement } from "../sql/statement.ts";
import { accessControl, type AccessParts } from "./accessControl.ts";
import type { TableJudgement } from "./known/judged.ts";

export interface AccessQuestion {
  readonly sql: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  readonly attributes: UserAttributes;
  /** Parameters of the session, by names in lower case. */
  readonly settings: Readonly<Record<string, string>>;
  /** In which the text is written. */
  readonly dialect: Dialect;
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
  /** The cluster group that it would go to. */
  readonly group: string;
}

/** `unavailable`: no decision could be had. `sql` is what would be sent on, where it is allowed. */
export interface AccessExplanation {
  readonly decision: "allowed" | "denied" | "unavailable";
  readonly sql: string | undefined;
  readonly refusal:
    | { readonly code: string; readonly message: string; readonly hint?: string | undefined }
    | undefined;
  readonly tables: readonly TableJudgement[];
}

/** `engines`: dialects of those that the statement may reach; the text is proven in each. */
export async function explainAccess(
  config: AccessControlConfig,
  question: AccessQuestion,
  parts: AccessParts & { readonly engines: readonly Dialect[] },
  signal: AbortSignal,
): Promise<AccessExplanation> {
  const control = accessControl(config, parts);
  const { outcome, tables } = await control.explain(queryOf(question), parts.engines, signal);
  if (outcome.ok) return { decision: "allowed", sql: outcome.value, refusal: undefined, tables };
  const { code, message, hint, retryAfterMs } = outcome.error;
  const decision =
    retryAfterMs === undefined && code === "policy.denied" ? "denied" : "unavailable";
  return { decision, sql: undefined, refusal: { code, message, hint }, tables };
}

function queryOf(question: AccessQuestion): Routed {
  const { sql, user, groups, roles, attributes, settings, dialect, catalog, schema } = question;
  return {
    // Nobody runs it, so no record has this id.
    id: "explain" as QueryId,
    sql,
    statement: readStatement(sql, dialect),
    parameters: [],
    session: {
      frontend: "explain",
      identity: { user, groups, roles, attributes, method: "static" },
      credential: { kind: "none" },
      clientAddress: "",
      dialect,
      catalog,
      schema,
      settings: new Map(Object.entries(settings)),
      tags: new Map(),
      headers: new Map(),
      pin: undefined,
    },
    takes: [],
    receivedAtMs: 0,
    group: question.group,
    trace: [],
  };
}
