/**
 * A door that answers from a script, for tests of frontends: real events, no pipeline behind them.
 *
 * It records what it was asked. It is not a model of the gateway: the suites in `test/e2e` use the
 * real door over the real engine.
 */
import type { Door } from "@gateway/core/door.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { Login, Presented } from "@gateway/core/port/authenticator.ts";
import type { Description, ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { PolledQuery } from "@gateway/core/query/polled.ts";
import type { Query, QueryId, Session } from "@gateway/core/query/query.ts";
import { err, ok } from "@gateway/core/result.ts";

/** Events to answer with; a function for answers that wait, depend on parameters, or never end. */
export type ScriptedAnswer =
  | readonly ResultEvent[]
  | ((query: Query, signal: AbortSignal) => ResultStream);

export interface Script {
  /** By exact SQL text; anything else fails with `query.syntax`. */
  readonly answers: Readonly<Record<string, ScriptedAnswer>>;
  readonly descriptions?: Readonly<Record<string, Description>>;
  /** Password per user. Absent: provider `none`. */
  readonly passwords?: Readonly<Record<string, string>>;
  readonly catalogs?: readonly string[];
}

export interface ScriptedDoor extends Door {
  /** Every query run or started, in order. */
  readonly queries: Query[];
  /** Every credential presented, in order. */
  readonly presented: Presented[];
  /** Ids of queries whose stream ended, in order: by its last event or because the frontend stopped reading. */
  readonly ended: QueryId[];
}

/** Makes a door from a script. */
export function scriptedDoor(script: Script): ScriptedDoor {
  const queries: Query[] = [];
  const presented: Presented[] = [];
  const ended: QueryId[] = [];
  const started = new Map<QueryId, PolledQuery>();
  let count = 0;

  async function* run(query: Query, signal: AbortSignal): ResultStream {
    queries.push(query);
    try {
      const answer = script.answers[query.sql] ?? [failedOf(query.sql)];
      if (typeof answer === "function") yield* answer(query, signal);
      else yield* answer;
    } finally {
      ended.push(query.id);
    }
  }

  return {
    queries,
    presented,
    ended,
    asksPassword: script.passwords !== undefined,
    catalogs: (_session: Session) => script.catalogs ?? ["memory"],
    authenticate: async (shown) => {
      presented.push(shown);
      const login = loginFrom(shown, script.passwords);
      return login === undefined ? err(gatewayError("auth.refused")) : ok(login);
    },
    query: (sql, parameters, session) => {
      count += 1;
      return {
        id: `20260101_000000_${String(count).padStart(5, "0")}_test` as QueryId,
        sql,
        parameters,
        session,
        receivedAtMs: 0,
      };
    },
    run,
    describe: async (query) => {
      const description = script.descriptions?.[query.sql];
      return description === undefined ? err(failedOf(query.sql).error) : ok(description);
    },
    start: (query) => {
      const polled = polledFrom(query, run);
      started.set(query.id, polled);
      return polled;
    },
    resume: (id, owner) => {
      const polled = started.get(id);
      if (polled === undefined || polled.owner.user !== owner.user)
        return err(gatewayError("query.unknown"));
      return ok(polled);
    },
    cancel: (id, by) => {
      const polled = started.get(id);
      if (polled === undefined || polled.owner.user !== by.user)
        return err(gatewayError("query.unknown"));
      polled.cancel();
      return ok(undefined);
    },
  };
}

function failedOf(sql: string) {
  const error = gatewayError("query.syntax", { message: `not in the script: ${sql}`, position: 1 });
  return { kind: "failed", error } as const;
}

function loginFrom(shown: Presented, passwords: Script["passwords"]): Login | undefined {
  if (passwords === undefined) {
    const user = (shown.kind === "bearer" ? shown.claimedUser : shown.user) ?? "anonymous";
    return {
      identity: { user, groups: [], roles: [], method: "none" },
      credential: { kind: "none" },
    };
  }
  if (shown.kind !== "password" || passwords[shown.user] !== shown.password.reveal())
    return undefined;
  return {
    identity: { user: shown.user, groups: [], roles: [], method: "static" },
    credential: { kind: "password", user: shown.user, password: shown.password },
  };
}

/** The real parking place (polled.ts in core) has limits and a sweep; this one only keeps the generator. */
function polledFrom(query: Query, run: Door["run"]): PolledQuery {
  const controller = new AbortController();
  const stream = run(query, controller.signal);
  let waiting: Promise<IteratorResult<ResultEvent, void>> | undefined;
  return {
    query,
    owner: query.session.identity,
    next: async (_waitMs, signal) => {
      signal.addEventListener("abort", () => controller.abort(), { once: true });
      waiting ??= stream.next();
      const step = await waiting;
      waiting = undefined;
      return step.done === true ? undefined : step.value;
    },
    cancel: () => controller.abort(),
  };
}
