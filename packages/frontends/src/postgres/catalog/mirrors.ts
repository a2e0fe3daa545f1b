/**
 * The pool of mirrors of one listener: at most two, one for each scope (what its readers may see). A mirror
 * that nobody asks is ended.
 *
 * Where more than two scopes are wanted, mirrors take turns: statements stand in line, by user and by age.
 * A mirror makes room for the next one when nobody asks it, or when it had its turn: it has lived for some
 * seconds and has answered. It finishes its statement first, so that everybody gets on.
 */
import { FairQueue, type Ticket } from "@gateway/core/capacity/queue/fairQueue.ts";
import type { Door } from "@gateway/core/port/door.ts";
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { allRead } from "@gateway/core/query/reached.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import type { CatalogMode } from "../config.ts";
import type { MirrorOutcome } from "./link.ts";
import type { MirrorCommand } from "./message.ts";
import { Mirror } from "./mirror.ts";
import { waitingRefusal } from "./turns.ts";

/** Each takes about 300 MB. */
const mirrorsMax = 2;
/** After so long without a statement a mirror is ended, which frees its memory. */
const idleMsMax = 300_000;
/** How long a busy mirror stays while another one is wanted. */
const turnMs = 5_000;

/** What routers and policies see of a listing. */
const listingSql = "SELECT * FROM information_schema.columns";

/** A mirror with who asks it. */
interface PooledMirror {
  readonly key: string;
  readonly mirror: Mirror;
  readonly sinceMs: number;
  /** Statements on their way to it or in it. */
  asking: number;
  /** It has answered somebody. */
  answered: boolean;
  /** It takes no more statements, and still takes memory. */
  leaving: boolean;
  idle: Disposable | undefined;
}

type Given = Result<PooledMirror, GatewayError>;

interface Asker {
  readonly user: string;
  readonly answer: (given: Given) => void;
}

/** A mirror that is wanted and does not exist yet, and who wants it. */
interface WantedMirror {
  readonly key: string;
  readonly session: Session;
  readonly askers: Set<Asker>;
}

export class Mirrors implements AsyncDisposable {
  readonly mode: CatalogMode;
  readonly #door: Door;
  readonly #host: Host;
  /** The mirror asked last stands last. */
  #pool: readonly PooledMirror[] = [];
  readonly #line = new FairQueue<WantedMirror>();
  readonly #wanted = new Map<string, Ticket<WantedMirror>>();
  #turnOver: Disposable | undefined;
  #changedAtMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(mode: CatalogMode, door: Door, host: Host) {
    this.mode = mode;
    this.#door = door;
    this.#host = host;
  }

  /** Mirrors that take statements, whether their thread was started or not. */
  get alive(): number {
    return this.#pool.filter(({ leaving }) => !leaving).length;
  }

  /** True when every engine that the session may reach reads PostgreSQL's SQL. */
  reachesPostgres(session: Session): boolean {
    return allRead("postgres", this.#door.engines(session));
  }

  /** Something may have been created or dropped: the next statement sees it. */
  changed(): void {
    this.#changedAtMs = this.#host.clock.nowMs();
  }

  /** Asks the mirror of the session's scope. `relist`: it lists the tables anew, however young its listing is. */
  async ask(
    session: Session,
    commandFor: (schema: string | undefined) => MirrorCommand,
    { signal, relist = false }: { readonly signal: AbortSignal; readonly relist?: boolean },
  ): Promise<Result<MirrorOutcome, GatewayError>> {
    const query = this.#door.query(readStatement(listingSql, "postgres"), [], session);
    const scope = await this.#door.tables(query, signal);
    if (!scope.ok) return scope;
    const { user } = session.identity;
    for (;;) {
      const given = await this.#give(scope.value.key, session, signal);
      if (!given.ok) return given;
      const pooled = given.value;
      const freshFromMs = relist ? this.#host.clock.nowMs() : this.#changedAtMs;
      const options = { user, freshFromMs, signal };
      const outcome = await pooled.mirror.ask(commandFor, scope.value, options);
      // Its memory went to another scope meanwhile.
      const gone = outcome.ok && outcome.value.kind === "lost" && outcome.value.code === "closed";
      pooled.asking -= 1;
      pooled.answered ||= !gone;
      this.#look();
      if (!gone || signal.aborted) return outcome;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#turnOver?.[Symbol.dispose]();
    for (const { item } of this.#wanted.values()) {
      for (const asker of item.askers) asker.answer(err(gatewayError("gateway.draining")));
    }
    const all = this.#pool;
    this.#pool = [];
    for (const { idle } of all) idle?.[Symbol.dispose]();
    await Promise.all(all.map(({ mirror }) => mirror[Symbol.asyncDispose]()));
  }

  /** The mirror of that scope, for one statement; waits in line where there is no room for it. */
  #give(scope: string, session: Session, signal: AbortSignal): Promise<Given> {
    if (this.#closed) return Promise.resolve(err(gatewayError("gateway.draining")));
    if (signal.aborted) return Promise.resolve(err(abortError(signal)));
    const key = JSON.stringify([scope, session.catalog ?? null]);
    const pooled = this.#pool.find((one) => one.key === key && !one.leaving);
    if (pooled !== undefined) return Promise.resolve(ok(this.#claimed(pooled)));
    const { user } = session.identity;
    const askers = [...this.#wanted.values()].flatMap(({ item }) => [...item.askers]);
    const refusal = waitingRefusal(
      askers.map((asker) => asker.user),
      user,
    );
    if (refusal !== undefined) return Promise.resolve(err(refusal));
    const ticket = this.#wanted.get(key) ?? this.#want({ key, session, askers: new Set() });
    return new Promise((resolve) => {
      const leave = (): void => asker.answer(err(abortError(signal)));
      const asker: Asker = {
        user,
        answer: (given) => {
          signal.removeEventListener("abort", leave);
          ticket.item.askers.delete(asker);
          if (ticket.item.askers.size === 0) this.#forget(ticket);
          resolve(given);
        },
      };
      ticket.item.askers.add(asker);
      signal.addEventListener("abort", leave, { once: true });
      this.#look();
    });
  }

  #want(wanted: WantedMirror): Ticket<WantedMirror> {
    const { user } = wanted.session.identity;
    const urgentAtMs = Number.POSITIVE_INFINITY;
    const ticket = this.#line.add(wanted, { subqueue: "", group: "", weight: 1, user, urgentAtMs });
    this.#wanted.set(wanted.key, ticket);
    return ticket;
  }

  #forget(ticket: Ticket<WantedMirror>): void {
    this.#line.remove(ticket);
    this.#wanted.delete(ticket.item.key);
  }

  /** Counts a statement that goes to it. */
  #claimed(pooled: PooledMirror): PooledMirror {
    pooled.asking += 1;
    pooled.idle?.[Symbol.dispose]();
    pooled.idle = undefined;
    this.#pool = [...this.#pool.filter((other) => other !== pooled), pooled];
    return pooled;
  }

  /** Opens mirrors for who stands in line, and ends those that had their turn. */
  #look(): void {
    this.#turnOver?.[Symbol.dispose]();
    this.#turnOver = undefined;
    if (this.#closed) return;
    for (;;) {
      const first = this.#line.next(0, () => true);
      if (first === undefined) break;
      if (this.#pool.length < mirrorsMax) {
        this.#open(first);
        continue;
      }
      const leaving = this.#pool.filter((pooled) => pooled.leaving).length;
      if (leaving >= this.#line.size) break;
      const over = this.#firstOver();
      if (over === undefined) {
        this.#lookLater();
        break;
      }
      this.#leave(over);
    }
    for (const pooled of this.#pool) this.#rest(pooled);
  }

  #open(ticket: Ticket<WantedMirror>): void {
    this.#line.grant(ticket);
    const { key, session, askers } = ticket.item;
    const mirror = new Mirror({
      host: this.#host,
      catalog: session.catalog,
      catalogs: () => this.#door.catalogs(session),
      free: () => this.#look(),
    });
    const sinceMs = this.#host.clock.nowMs();
    const fresh = { asking: 0, answered: false, leaving: false, idle: undefined };
    const pooled: PooledMirror = { key, mirror, sinceMs, ...fresh };
    this.#pool = [...this.#pool, pooled];
    for (const asker of askers) asker.answer(ok(this.#claimed(pooled)));
  }

  /** The mirror that makes room for the next one: an idle one, else the oldest of those that had their turn. */
  #firstOver(): PooledMirror | undefined {
    const nowMs = this.#host.clock.nowMs();
    const staying = this.#pool.filter(({ leaving }) => !leaving);
    const over = staying.filter(({ sinceMs, answered }) => answered && nowMs - sinceMs >= turnMs);
    over.sort((a, b) => a.sinceMs - b.sinceMs);
    return staying.find(isIdle) ?? over[0];
  }

  #lookLater(): void {
    const nowMs = this.#host.clock.nowMs();
    const coming = this.#pool.filter(
      (pooled) => !pooled.leaving && nowMs - pooled.sinceMs < turnMs,
    );
    if (coming.length === 0) return;
    const nextMs = Math.min(...coming.map(({ sinceMs }) => sinceMs + turnMs - nowMs));
    this.#turnOver = this.#host.clock.timer(nextMs, () => this.#look());
  }

  #rest(pooled: PooledMirror): void {
    if (pooled.idle !== undefined || pooled.leaving || !isIdle(pooled)) return;
    pooled.idle = this.#host.clock.timer(idleMsMax, () => this.#leave(pooled));
  }

  /** Ends it after the statement that runs. Statements that wait in it stand in line again. */
  #leave(pooled: PooledMirror): void {
    pooled.leaving = true;
    pooled.idle?.[Symbol.dispose]();
    const left = (): void => {
      this.#pool = this.#pool.filter((other) => other !== pooled);
      this.#look();
    };
    pooled.mirror.retire().then(left, (bug: unknown) => {
      this.#host.log.bug(bug);
      left();
    });
  }
}

function isIdle({ asking, mirror }: PooledMirror): boolean {
  return asking === 0 && mirror.busy === 0;
}
