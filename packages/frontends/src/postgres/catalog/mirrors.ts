/**
 * The mirrors of one listener: at most two, by what their readers may see, and none that nobody asks.
 *
 * Where more than two are wanted they take turns: who wants one stands in line, by user and by age. A
 * mirror is ended for another one when nobody asks it, or when it had its turn: it has been there for
 * some seconds and has answered. What it is doing then is finished, so that everybody gets on.
 */
import { FairQueue, type Ticket } from "@gateway/core/capacity/queue/fairQueue.ts";
import type { Door } from "@gateway/core/port/door.ts";
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import type { CatalogMode } from "../config.ts";
import type { Asked, Outcome } from "./link.ts";
import { Mirror, type Place } from "./mirror.ts";
import { waitingRefusal } from "./turns.ts";

/** Each takes about 300 MB. */
const mirrorsMax = 2;
/** A mirror that nobody asked for so long gives its memory back. */
const idleMsMax = 300_000;
/** How long a mirror is kept that is asked, while another one is wanted. */
const turnMs = 5_000;

/** What routers and policies see of a listing. */
const listingSql = "SELECT * FROM information_schema.columns";

interface Kept {
  readonly key: string;
  readonly mirror: Mirror;
  readonly sinceMs: number;
  /** Statements that go to it or are there. */
  asking: number;
  /** It has answered somebody. */
  answered: boolean;
  /** No statement goes there any more; its memory is still taken. */
  leaving: boolean;
  idle: Disposable | undefined;
}

type Given = Result<Kept, GatewayError>;

interface Asker {
  readonly user: string;
  readonly answer: (given: Given) => void;
}

/** A mirror that is wanted and not there, and who wants it. */
interface Wanted {
  readonly key: string;
  readonly session: Session;
  readonly askers: Set<Asker>;
}

export class Mirrors implements AsyncDisposable {
  readonly mode: CatalogMode;
  readonly #door: Door;
  readonly #host: Host;
  /** The one asked last stands last. */
  #kept: readonly Kept[] = [];
  readonly #line = new FairQueue<Wanted>();
  readonly #wanted = new Map<string, Ticket<Wanted>>();
  #turnOver: Disposable | undefined;
  #changedAtMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(mode: CatalogMode, door: Door, host: Host) {
    this.mode = mode;
    this.#door = door;
    this.#host = host;
  }

  /** Mirrors that are kept, started or not. */
  get alive(): number {
    return this.#kept.filter(({ leaving }) => !leaving).length;
  }

  /** Something may have been created or dropped: the next statement sees it. */
  changed(): void {
    this.#changedAtMs = this.#host.clock.nowMs();
  }

  /** Asks the mirror of what this session may see. `relist`: even if its listing is young. */
  async ask(
    session: Session,
    request: (place: Place) => Asked,
    { signal, relist = false }: { readonly signal: AbortSignal; readonly relist?: boolean },
  ): Promise<Result<Outcome, GatewayError>> {
    const query = this.#door.query(readStatement(listingSql, "postgres"), [], session);
    const scope = await this.#door.tables(query, signal);
    if (!scope.ok) return scope;
    const { user } = session.identity;
    for (;;) {
      const given = await this.#give(scope.value.key, session, signal);
      if (!given.ok) return given;
      const kept = given.value;
      const freshFromMs = relist ? this.#host.clock.nowMs() : this.#changedAtMs;
      const wish = { user, freshFromMs, signal };
      const outcome = await kept.mirror.ask(request, scope.value, wish);
      // Another place took its memory meanwhile.
      const gone = outcome.ok && outcome.value.kind === "lost" && outcome.value.code === "closed";
      kept.asking -= 1;
      kept.answered ||= !gone;
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
    const all = this.#kept;
    this.#kept = [];
    for (const { idle } of all) idle?.[Symbol.dispose]();
    await Promise.all(all.map(({ mirror }) => mirror[Symbol.asyncDispose]()));
  }

  /** The mirror that shows this, for one statement; waits in line where there is no place for it. */
  #give(scope: string, session: Session, signal: AbortSignal): Promise<Given> {
    if (this.#closed) return Promise.resolve(err(gatewayError("gateway.draining")));
    if (signal.aborted) return Promise.resolve(err(abortError(signal)));
    const key = JSON.stringify([scope, session.catalog ?? null]);
    const kept = this.#kept.find((one) => one.key === key && !one.leaving);
    if (kept !== undefined) return Promise.resolve(ok(this.#claimed(kept)));
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

  #want(wanted: Wanted): Ticket<Wanted> {
    const { user } = wanted.session.identity;
    const urgentAtMs = Number.POSITIVE_INFINITY;
    const ticket = this.#line.add(wanted, { subqueue: "", group: "", weight: 1, user, urgentAtMs });
    this.#wanted.set(wanted.key, ticket);
    return ticket;
  }

  #forget(ticket: Ticket<Wanted>): void {
    this.#line.remove(ticket);
    this.#wanted.delete(ticket.item.key);
  }

  /** Counts a statement that goes to it. */
  #claimed(kept: Kept): Kept {
    kept.asking += 1;
    kept.idle?.[Symbol.dispose]();
    kept.idle = undefined;
    this.#kept = [...this.#kept.filter((other) => other !== kept), kept];
    return kept;
  }

  /** Gives places to who stands in line, and takes them from those that had their turn. */
  #look(): void {
    this.#turnOver?.[Symbol.dispose]();
    this.#turnOver = undefined;
    if (this.#closed) return;
    for (;;) {
      const first = this.#line.next(0, () => true);
      if (first === undefined) break;
      if (this.#kept.length < mirrorsMax) {
        this.#open(first);
        continue;
      }
      const leaving = this.#kept.filter((kept) => kept.leaving).length;
      if (leaving >= this.#line.size) break;
      const over = this.#firstOver();
      if (over === undefined) {
        this.#lookLater();
        break;
      }
      this.#leave(over);
    }
    for (const kept of this.#kept) this.#rest(kept);
  }

  #open(ticket: Ticket<Wanted>): void {
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
    const kept: Kept = { key, mirror, sinceMs, ...fresh };
    this.#kept = [...this.#kept, kept];
    for (const asker of askers) asker.answer(ok(this.#claimed(kept)));
  }

  /** The mirror whose place goes to the next one: nobody asks it, or it was there first of those that had their turn. */
  #firstOver(): Kept | undefined {
    const nowMs = this.#host.clock.nowMs();
    const staying = this.#kept.filter(({ leaving }) => !leaving);
    const over = staying.filter(({ sinceMs, answered }) => answered && nowMs - sinceMs >= turnMs);
    over.sort((a, b) => a.sinceMs - b.sinceMs);
    return staying.find(isIdle) ?? over[0];
  }

  #lookLater(): void {
    const nowMs = this.#host.clock.nowMs();
    const coming = this.#kept.filter((kept) => !kept.leaving && nowMs - kept.sinceMs < turnMs);
    if (coming.length === 0) return;
    const nextMs = Math.min(...coming.map(({ sinceMs }) => sinceMs + turnMs - nowMs));
    this.#turnOver = this.#host.clock.timer(nextMs, () => this.#look());
  }

  #rest(kept: Kept): void {
    if (kept.idle !== undefined || kept.leaving || !isIdle(kept)) return;
    kept.idle = this.#host.clock.timer(idleMsMax, () => this.#leave(kept));
  }

  /** Ends it when what it does is done. Whoever else waits in it stands in line again. */
  #leave(kept: Kept): void {
    kept.leaving = true;
    kept.idle?.[Symbol.dispose]();
    const left = (): void => {
      this.#kept = this.#kept.filter((other) => other !== kept);
      this.#look();
    };
    kept.mirror.retire().then(left, (bug: unknown) => {
      this.#host.log.bug(bug);
      left();
    });
  }
}

function isIdle({ asking, mirror }: Kept): boolean {
  return asking === 0 && mirror.busy === 0;
}
