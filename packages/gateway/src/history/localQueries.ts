/** What the admin API shows of the queries that live in this process, and how an operator ends one. */
import type { LocalQueries, LocalQuery } from "@gateway/control/deps.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { LiveQueries, LiveView } from "@gateway/core/run/step/live.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import { withSettings } from "@gateway/core/query/mysqlCall.ts";
import { redactSql, type Redaction } from "@gateway/core/record/redact.ts";

/** Text shown of one statement; a list of a thousand must stay small whatever clients send. */
const sqlCharsMax = 4_096;

/** `redaction`: what the text of a running query may tell; the same as its record will. */
export function localQueries(
  live: Pick<LiveQueries, "list" | "get">,
  redaction: () => Redaction = () => "full",
): LocalQueries {
  return {
    list: () => live.list().map((view) => localQueryOf(view, redaction())),
    cancel: (id) => {
      const found = live.get(id as QueryId);
      found?.cancel(gatewayError("query.cancelled"));
      return found !== undefined;
    },
  };
}

function localQueryOf(view: LiveView, redaction: Redaction): LocalQuery {
  const { query, state, position, group, cluster, createdAt, rows } = view;
  const { session, mysql } = query;
  const sql = withSettings(query.sql, mysql);
  const dialects = [session.dialect, view.targetDialect ?? session.dialect];
  return {
    id: query.id,
    user: session.identity.user,
    frontend: session.frontend,
    state,
    position,
    group,
    cluster,
    since: createdAt,
    rows,
    sql: (redactSql(sql, dialects, redaction) ?? "").slice(0, sqlCharsMax),
  };
}
