/**
 * A door that answers from a script, for tests of frontends: real events, no pipeline behind them.
 *
 * It records what it was asked. It is not a model of the gateway: the suites in `test/e2e` use the
 * real door over the real engine.
 */
import type { Door, PolledQuery, TableScope } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login, Presented } from "@gateway/core/port/authenticator.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Description, ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { Query, QueryId, Session } from "@gateway/core/query/query.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";

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
  /** Whether access tokens are offered. */
  readonly takesTokens?: boolean;
  /** Who issues them. */
  readonly tokenIssuer?: string;
  readonly catalogs?: readonly string[];
  /** What the engines read that statements go to; one that no frontend speaks unless told. */
  readonly dialect?: Dialect;
  /** The client's protocol, where the engines speak it themselves. */
  readonly speaks?: "mysql";
  /** What their server says of itself. */
  readonly statuses?: ReadonlyMap<string, string>;
  /** As of a door: what the first greeting waits for. */
  readonly learned?: () => Promise<void> | undefined;
  /** What a listing answers, whoever asks; a function to count or to refuse. */
  readonly tables?: TableScope["list"] | readonly TableListing[];
  /** Measures how long a poll waits. Absent: a poll waits until there is an event. */
  readonly clock?: Clock;
}

export interface ScriptedDoor extends Door {
  /** Every query run or started, in order. */
  readonly queries: Query[];
  /** Every credential presented, in order. */
  readonly presented: Presented[];
  /** Logins that the frontend refused by itself: code, what was tried, claimed name. */
  readonly refusals: readonly string[];
  /** Ids of queries whose stream ended, in order: by its last event or because the frontend stopped reading. */
  readonly ended: QueryId[];
  /** Resolves once so many queries were run or started. */
  untilStarted(count: number): Promise<void>;
  /** Resolves once so many streams ended. */
  untilEnded(count: number): Promise<void>;
}

/** Makes a door from a script. */
export function scriptedDoor(script: Script): ScriptedDoor {
  const queries: Query[] = [];
  const presented: Presented[] = [];
  const refusals: string[] = [];
  const ended: QueryId[] = [];
  const started = new Map<QueryId, PolledQuery>();
  const growth = growthOf();
  const tables = typeof script.tables === "function" ? [] : (script.tables ?? []);
  const engines = [
    {
      dialect: script.dialect ?? "generic",
      catalogs: script.catalogs ?? ["memory"],
      speaks: script.speaks,
      statuses: script.statuses,
    },
  ];
  let count = 0;

  async function* run(query: Query, signal: AbortSignal): ResultStream {
    queries.push(query);
    growth.changed();
    try {
      const answer = script.answers[query.sql] ?? [failedOf(query.sql)];
      if (typeof answer === "function") yield* answer(query, signal);
      else yield* answer;
    } finally {
      ended.push(query.id);
      growth.changed();
    }
  }

  return {
    queries,
    presented,
    ended,
    untilStarted: (length) => growth.until(queries, length),
    untilEnded: (length) => growth.until(ended, length),
    asksPassword: script.passwords !== undefined,
    takesTokens: script.takesTokens ?? false,
    tokenIssuer: script.tokenIssuer,
    catalogs: (_session: Session) => script.catalogs ?? ["memory"],
    authenticate: async (shown) => {
      presented.push(shown);
      const login = loginFrom(shown, script.passwords);
      return login === undefined ? err(gatewayError("auth.refused")) : ok(login);
    },
    refusals,
    refused: (code, { kind, user }) => void refusals.push(`${code} ${kind} ${user}`),
    query: (statement, parameters, session, takes = []) => {
      count += 1;
      const id = `20260101_000000_${String(count).padStart(5, "0")}_test` as QueryId;
      const { sql } = statement;
      return { id, sql, statement, parameters, session, takes, receivedAtMs: 0 };
    },
    run,
    describe: async (query) => {
      const description = script.descriptions?.[query.sql];
      return description === undefined ? err(failedOf(query.sql).error) : ok(description);
    },
    engines: () => engines,
    learned: script.learned ?? nothingToLearn,
    target: async () => ok(engines),
    tables: async () =>
      ok({
        key: "scripted",
        list: typeof script.tables === "function" ? script.tables : async () => ok(tables),
      }),
    start: (query) => {
      const polled = polledFrom(query, run, script.clock);
      started.set(query.id, polled);
      return polled;
    },
    resume: (id, owner) => ownedBy(owner, started.get(id)),
    cancel: async (id, by) => {
      const polled = ownedBy(by, started.get(id));
      if (!polled.ok) return polled;
      polled.value.cancel();
      return ok(undefined);
    },
  };
}

function nothingToLearn(): undefined {}

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

/** Waits for lists to grow. */
function growthOf() {
  const waiting = new Set<() => void>();
  return {
    changed: (): void => {
      for (const look of waiting) look();
    },
    until: (list: readonly unknown[], length: number): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (list.length < length) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

function ownedBy(
  owner: AuthContext,
  polled: PolledQuery | undefined,
): Result<PolledQuery, GatewayError> {
  const owned = polled !== undefined && polled.owner.user === owner.user;
  return owned ? ok(polled) : err(gatewayError("query.unknown"));
}

/** The real parking place (polled.ts in core) has limits and a sweep; this one only keeps the generator. */
function polledFrom(query: Query, run: Door["run"], clock: Clock | undefined): PolledQuery {
  const controller = new AbortController();
  const stream = run(query, controller.signal);
  let waiting: Promise<ResultEvent | undefined> | undefined;
  let last: ResultEvent | undefined;
  let over = false;

  /** Ends the generator, once; `event` is what the next poll is told. */
  const end = (event: ResultEvent | undefined): void => {
    if (over) return;
    over = true;
    last = event;
    void stream.return();
  };
  const pull = async (): Promise<ResultEvent | undefined> => {
    const step = await stream.next();
    if (step.done === true) return undefined;
    if (step.value.kind === "done" || step.value.kind === "failed") end(undefined);
    else if (controller.signal.aborted) end(cancelled);
    return step.value;
  };
  const leave = (): void => {
    controller.abort();
    end(undefined);
  };
  return {
    query,
    owner: query.session.identity,
    next: async (waitMs, signal) => {
      const told = last;
      last = undefined;
      if (told !== undefined) return told;
      signal.addEventListener("abort", leave, { once: true });
      waiting ??= pull();
      using pause = pauseOf(waitMs, clock);
      const event = await Promise.race([waiting.then((found) => ({ found })), pause.over]);
      signal.removeEventListener("abort", leave);
      if (event === undefined) return undefined;
      waiting = undefined;
      return event.found;
    },
    cancel: () => {
      controller.abort();
      // While somebody waits for the next event, the answer itself says that it was cancelled.
      if (waiting === undefined) end(cancelled);
    },
  };
}

const cancelled: ResultEvent = { kind: "failed", error: gatewayError("query.cancelled") };

/** Resolves after a time; never without a clock. */
function pauseOf(waitMs: number, clock: Clock | undefined) {
  let timer: Disposable | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = clock?.timer(waitMs, () => resolve(undefined));
  });
  return { over, [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}
