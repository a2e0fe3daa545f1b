/**
 * A connection that stays with one session: because its cluster gives each session one, or for as long as the session
 * has something on it. What that is, the server says: functions and DO leave what no text shows.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { PinnedLane, ScanEstimate } from "@gateway/core/port/backend.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import { noBackendIdentity, type BackendIdentity } from "@gateway/core/query/identity.ts";
import type { KeptListener } from "@gateway/core/query/pin.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, type Result } from "@gateway/core/result.ts";
import { ask } from "./client/ask.ts";
import type { Member } from "./client/member.ts";
import type { Taken } from "./client/pool.ts";
import type { EarlyListener } from "./client/told.ts";
import { endOf } from "./client/reading.ts";
import { judgedIn } from "./call.ts";
import { estimateOn } from "./estimate.ts";
import { nameOf } from "./identity.ts";
import { describeOn, runOn, withoutSequences, type LookingLane, type RunContext } from "./lane.ts";
import { quoteText } from "./sql/quote.ts";
import { begunOn } from "./transaction.ts";

export class KeptConnection implements LookingLane {
  readonly #taken: Taken;
  readonly #identity: BackendIdentity;
  readonly #context: RunContext;
  readonly #early: EarlyListener | undefined;
  #keeps: string | undefined;
  #closed = false;

  /** `early`: who listened before its session did. */
  constructor(taken: Taken, identity: BackendIdentity, context: RunContext, early?: EarlyListener) {
    this.#early = early;
    this.#taken = taken;
    this.#identity = identity;
    this.#context = { ...context, until: "session" };
    this.#keeps = context.pins === "always" ? "session" : undefined;
    // Whatever runs here may leave anything.
    taken.member.used = true;
  }

  get keeps(): string | undefined {
    return this.#keeps;
  }

  get process(): number | undefined {
    return this.#taken.member.key?.process;
  }

  hear(listener: KeptListener): void {
    const { member } = this.#taken;
    for (const bytes of this.#early?.take() ?? []) void listener.message(bytes);
    member.hear(listener);
    if (this.#context.pins !== "always") return;
    // The name of the client's application is brought with its first statement.
    for (const [name, value] of member.statuses)
      if (name !== "application_name" && name !== "session_authorization")
        listener.status(name, value);
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    const { member } = this.#taken;
    const refused = this.#refusal(query) ?? (await withoutSequences(member, signal));
    if (refused !== undefined) return yield { kind: "failed", error: refused };
    for await (const event of runOn(member, query, this.#context, signal)) {
      const last = event.kind === "done" || event.kind === "failed";
      if (last) await this.#after(query);
      yield event;
    }
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    const refused = this.#refusal(query);
    if (refused !== undefined) return err(refused);
    return await describeOn(this.#taken.member, query, this.#context, signal);
  }

  async estimateScan(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<ScanEstimate, GatewayError>> {
    const refused = this.#refusal(query);
    if (refused !== undefined) return err(refused);
    return await estimateOn(this.#taken.member, query, this.#context, signal);
  }

  async begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    const refused = this.#refusal(query);
    if (refused !== undefined) return err(refused);
    const lent = { member: this.#taken.member, leave: nothing, [Symbol.dispose]: nothing };
    const context = { ...this.#context, until: "transaction", lent: true } as const;
    return await begunOn(lent, query, context, signal);
  }

  /** Asks the server what of its session is left on the connection. */
  async look(signal: AbortSignal): Promise<void> {
    if (this.#context.pins === "always") return;
    this.#keeps = await lingering(this.#taken.member, signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#closed = true;
    const { member } = this.#taken;
    member.hear(undefined);
    if (member.busy || member.status !== "I") member.destroy();
    this.#taken[Symbol.dispose]();
    return Promise.resolve();
  }

  /** Behind a statement that may have left something, or taken it away. */
  async #after(query: Identified): Promise<void> {
    const judged = judgedIn(query, this.#context);
    if (!judged.ok) return;
    const { lasting, unsure } = judged.value;
    const { member } = this.#taken;
    const { session } = query.statement;
    if (session?.kind === "resetAll" || (session?.kind === "discard" && session.what === "all")) {
      // The client's own beginnings are brought again.
      member.settings.clear();
      [member.limitMs, member.settled] = [undefined, false];
    }
    if ((lasting === undefined && !unsure) || !member.open || member.busy) return;
    // A cancel of the statement is none of the question's.
    using limit = timeLimit(this.#context);
    await this.look(limit.signal);
  }

  #refusal({ backendIdentity, group }: Identified): GatewayError | undefined {
    const { member } = this.#taken;
    if (this.#closed || !member.open) return endOf(member);
    if (nameOf(backendIdentity) === nameOf(this.#identity)) return undefined;
    const detail = "the connection is another's";
    return noBackendIdentity(backendIdentity.mode, group, { detail });
  }
}

/** How long a server may take to say what is left. */
const lookingMs = 5_000;

function timeLimit({ clock }: RunContext): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const timer = clock.timer(lookingMs, () => controller.abort());
  return { signal: controller.signal, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

/**
 * What is left, in words for records; undefined where nothing is. A server that can not say it keeps its
 * connection out of the pool.
 */
async function lingering(member: Member, signal: AbortSignal): Promise<string | undefined> {
  const answer = await ask(member, lingeringSql(member), signal);
  if (answer.ok) return answer.value.rows[0]?.[0] ?? undefined;
  member.tainted = true;
  return member.open ? "unknown" : undefined;
}

/** Everything of a session that PostgreSQL tells of, but for settings that were brought. */
function lingeringSql(member: Member): string {
  const brought = [
    ...member.settings.keys(),
    "statement_timeout",
    "application_name",
    "client_encoding",
  ];
  const names = brought.map((name) => quoteText(name.toLowerCase())).join(", ");
  return `SELECT CASE
  WHEN EXISTS (SELECT FROM pg_catalog.pg_listening_channels()) THEN 'LISTEN'
  WHEN pg_catalog.pg_my_temp_schema() <> 0 AND (
    EXISTS (SELECT FROM pg_catalog.pg_class WHERE relnamespace = pg_catalog.pg_my_temp_schema())
    OR EXISTS (SELECT FROM pg_catalog.pg_type WHERE typnamespace = pg_catalog.pg_my_temp_schema())
    OR EXISTS (SELECT FROM pg_catalog.pg_proc WHERE pronamespace = pg_catalog.pg_my_temp_schema()))
    THEN 'temporary table'
  WHEN EXISTS (SELECT FROM pg_catalog.pg_prepared_statements WHERE from_sql) THEN 'prepared statement'
  WHEN EXISTS (SELECT FROM pg_catalog.pg_cursors WHERE is_holdable) THEN 'cursor WITH HOLD'
  WHEN EXISTS (SELECT FROM pg_catalog.pg_locks
    WHERE locktype = 'advisory' AND pid = pg_catalog.pg_backend_pid()) THEN 'advisory lock'
  WHEN EXISTS (SELECT FROM pg_catalog.pg_settings
    WHERE source = 'session' AND pg_catalog.lower(name) NOT IN (${names})) THEN 'setting'
END`;
}

function nothing(): void {}
