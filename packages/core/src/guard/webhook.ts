/** A guard that asks a web service: what the service is told, and what its answer, or its silence, means. */
import { guardStages, type WebhookConfig } from "@gateway/contract/config/guardrail.ts";
import type { GuardQuestion } from "@gateway/contract/guardService.ts";
import { scriptSqlMax } from "@gateway/contract/script.ts";
import type { GuardService } from "../port/sql/guardService.ts";
import type { Query } from "../query/query.ts";
import { digestSql } from "../sql/mask/fingerprint.ts";

/** What is asked about: the statement as it stands at that stage, in its dialect. */
export interface HookAsked {
  readonly query: Query;
  readonly group: string;
  /** Absent before translation. */
  readonly cluster?: string;
}

/** What a guard that was asked says. `unavailable`: nobody said no, but nobody could be asked. */
export type GuardSaid =
  | null
  | { readonly deny: string; readonly unavailable?: true }
  | { readonly warn: string };

/** A service may also write another text. */
export type HookSaid = GuardSaid | { readonly rewrite: string };

export interface Hook {
  readonly stages: WebhookConfig["stages"];
  /** Whether the text that it writes is taken. */
  readonly rewrites: boolean;
  /** Never rejects. After an abort of `signal` the answer is of no use. */
  ask(asked: HookAsked, signal: AbortSignal): Promise<HookSaid>;
}

export function hookOf(config: WebhookConfig, service: GuardService): Hook {
  const { name, rewrites, stages, statement } = config;
  const unusable: HookSaid =
    config.onError === "deny"
      ? { deny: unasked(name), unavailable: true }
      : { warn: unasked(name) };
  return {
    stages,
    rewrites,
    ask: async (asked, signal) => {
      if (statement === "text" && asked.query.sql.length > scriptSqlMax) return { deny: tooLong };
      const { user } = asked.query.session.identity;
      const said = await service.ask(questionOf(config, asked), user, signal);
      if (!said.ok) return unusable;
      switch (said.value.decision) {
        case "allow":
          return null;
        case "deny":
          return { deny: said.value.message ?? "The service of a guard denies this statement." };
        case "warn":
          return { warn: said.value.message };
        case "rewrite":
          return rewrites && asked.cluster === undefined ? { rewrite: said.value.sql } : unusable;
      }
    },
  };
}

/** What clients read where a guard's service says nothing that can be used. */
function unasked(name: string): string {
  return `The guard ${name} of the configuration could not be asked about this statement.`;
}

const tooLong = "The text of this statement is too long for a guard's service to be told.";

/** Nothing of the identity that the configuration does not name. */
export function questionOf(
  { name, statement, caller }: Pick<WebhookConfig, "name" | "statement" | "caller">,
  { query, group, cluster }: HookAsked,
): GuardQuestion {
  const { session, sql } = query;
  const { user, groups, roles } = session.identity;
  const [before, after] = guardStages;
  return {
    guard: name,
    stage: cluster === undefined ? before : after,
    statement: statement === "text" ? { text: sql } : { digest: digestOf(query) },
    kind: query.statement.kind,
    dialect: session.dialect,
    clusterGroup: group,
    ...(cluster !== undefined && { cluster }),
    tags: Object.fromEntries(session.tags),
    ...(caller.includes("user") && { user }),
    ...(caller.includes("groups") && { groups }),
    ...(caller.includes("roles") && { roles }),
  };
}

/** A long digest says nothing that its fingerprint does not. */
function digestOf({ sql, session }: Query): { text: string | null; fingerprint: string } {
  const { text, fingerprint } = digestSql(sql, session.dialect);
  return { text: text === undefined || text.length > scriptSqlMax ? null : text, fingerprint };
}
