/** Asking scripts about a query: what they are given, and what their failure means to the client. */
import type { ScriptUse } from "@gateway/contract/config/script.ts";
import { scriptSqlMax, type ScriptAnswers, type ScriptQuery } from "@gateway/contract/script.ts";
import { gatewayError, type GatewayError } from "../../error.ts";
import type { Host } from "../../port/host.ts";
import type { MetricFamily } from "../../port/metrics.ts";
import type { LocalRewrites, ScriptCall, ScriptFailure, Scripts } from "../../script/scripts.ts";
import type { Query } from "../../query/query.ts";
import { err, type Result } from "../../result.ts";

/** What a script is asked about. `sql`: instead of the client's text. */
export interface Asked {
  readonly query: Query;
  readonly group?: string;
  readonly sql?: string;
  readonly beside?: unknown;
}

/** Asks a script that the configuration has. Refuses with `script.failed` or `script.busy`, and says the rest to the log. */
export type AskScript = <Use extends ScriptUse>(
  use: Use,
  name: string,
  asked: Asked,
) => Promise<Result<ScriptAnswers[Use], GatewayError>>;

/** Failures of scripts; the log says of which one. */
export const scriptFailures = {
  name: "gateway_script_failures_total",
  help: "Calls of scripts that gave no usable answer.",
  labels: ["use", "reason"],
} as const satisfies MetricFamily<string>;

/** The same of one use. */
export type AskRewrite = (
  name: string,
  asked: Asked,
) => Promise<Result<ScriptAnswers["rewrite"], GatewayError>>;

type Told = Pick<Host, "log" | "metrics">;

/** `scripts` is absent where none can run: each call then fails. */
export function askScripts(scripts: Scripts | undefined, host: Told): AskScript {
  if (scripts === undefined) return noScripts;
  return async (use, name, asked) => {
    const answer = await scripts.ask(use, name, callOf(asked));
    return answer.ok ? answer : err(failed(host, { use, name, asked }, answer.error));
  };
}

/** Asks what this process alone has, and refuses in the same way. */
export function askLocal(local: Pick<LocalRewrites, "ask">, host: Told): AskRewrite {
  return async (name, asked) => {
    const answer = await local.ask(name, callOf(asked));
    if (answer.ok) return answer;
    return err(failed(host, { use: "rewrite", name, asked }, answer.error));
  };
}

interface FailedCall {
  readonly use: ScriptUse;
  readonly name: string;
  readonly asked: Asked;
}

function failed(
  { log, metrics }: Told,
  { use, name, asked }: FailedCall,
  { code, detail, line }: ScriptFailure,
): GatewayError {
  metrics.counter(scriptFailures, { use, reason: code }).add(1);
  log.write("warn", "script.failed", {
    queryId: asked.query.id,
    script: name,
    reason: code,
    line,
  });
  return errorOf(name, { code, detail });
}

/** For a process in which no script runs. */
export const noScripts: AskScript = () => Promise.resolve(err(nowhere));

export const noLocal: AskRewrite = () => Promise.resolve(err(nowhere));

const nowhere = gatewayError("script.failed", {
  message: "Scripts of the configuration do not run in this process.",
});

function errorOf(name: string, { code, detail }: ScriptFailure): GatewayError {
  if (code === "busy") return gatewayError("script.busy", { detail });
  return gatewayError("script.failed", {
    message: `The script ${name} of the configuration failed on this query.`,
    detail: `${code}: ${detail}`,
  });
}

function callOf(asked: Asked): ScriptCall {
  return { query: scriptQueryOf(asked), beside: asked.beside };
}

function scriptQueryOf({ query, group, sql = query.sql }: Asked): ScriptQuery {
  const { session, statement, parameters, call, mysql } = query;
  const { identity, catalog = null, schema = null } = session;
  return {
    sql: sql.length > scriptSqlMax ? sql.slice(0, scriptSqlMax) : sql,
    sqlLength: sql.length,
    kind: statement.kind,
    parameters: call?.values.length ?? mysql?.execution?.parameters ?? parameters.length,
    user: identity.user,
    groups: identity.groups,
    roles: identity.roles,
    tags: Object.fromEntries(session.tags),
    protocol: session.frontend,
    clientAddress: session.clientAddress,
    headers: Object.fromEntries(session.headers),
    catalog,
    schema,
    dialect: session.dialect,
    group: group ?? null,
  };
}
