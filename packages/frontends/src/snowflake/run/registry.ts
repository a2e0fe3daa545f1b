/** The statements of a listener by their ids, with those that ended a while ago: results are asked for again and later. */
import { timingSafeEqual } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { LiveSession } from "../session/sessions.ts";
import type { State } from "../machine.ts";
import type { Execution } from "./execution.ts";
import { Pot } from "./pot.ts";

/** Results that are kept at once, of all sessions; the one that was asked for longest ago goes first. */
const keptMax = 512;
/** Characters of the answers' own rows that are kept, in memory. */
const keptLengthMax = 32 * 1024 * 1024;
const sweepMs = 5_000;
/** A driver that downloads nothing for so long is taken for gone in a drain. */
const silentMs = 15_000;
const secretBytes = 24;

/** A statement, or several that one request sent. */
export interface Submitted {
  readonly id: string;
  /** Its id, with the gateway that has it: what the SQL API calls it. */
  readonly handle: string;
  readonly session: LiveSession;
  readonly requestId: string;
  /** Its driver did not wait for it. */
  readonly isAsync: boolean;
  /** The client's text. */
  readonly sql: string;
  /** Its text held several, each of which has a result of its own. */
  readonly several: boolean;
  /** Those that began so far, in their order. */
  readonly executions: readonly Execution[];
  /** Resolves when all of them are over. */
  readonly over: Promise<void>;
  /** Stands in the addresses of chunks: who has it may download them. */
  readonly secret: string;
  ended: boolean;
  /** Chunks of its rows that nobody downloaded yet; filled at its end. */
  readonly unread: Set<number>;
  askedAtMs: number;
  /** Requests that wait for it now. */
  waiting: number;
}

export class Registry {
  /** Room for the rows of all. */
  readonly pot: Pot;
  readonly #host: Pick<Host, "clock" | "randomBytes">;
  readonly #keepMs: number;
  readonly #byId = new Map<string, Submitted>();
  #timer: Disposable | undefined;
  #whenQuiet: (() => void) | undefined;

  constructor(
    host: Pick<Host, "clock" | "randomBytes">,
    { keepMs, bytesMax }: { readonly keepMs: number; readonly bytesMax: number },
  ) {
    this.#host = host;
    this.#keepMs = keepMs;
    this.pot = new Pot(bytesMax);
    this.#sweepLater();
  }

  add(found: Omit<Submitted, "secret" | "askedAtMs" | "waiting" | "ended" | "unread">): Submitted {
    const secret = Buffer.from(this.#host.randomBytes(secretBytes)).toString("base64url");
    const askedAtMs = this.#host.clock.nowMs();
    const unread = new Set<number>();
    const submitted = { ...found, secret, askedAtMs, waiting: 0, ended: false, unread };
    this.#byId.set(found.id, submitted);
    void this.#watch(submitted);
    return submitted;
  }

  /** That user's statement; the same for one that is not there and one that is another's. */
  find(id: string, user: string): Submitted | undefined {
    const found = this.#byId.get(id) ?? this.#childOf(id);
    if (found?.session.owner.login.identity.user !== user) return undefined;
    found.askedAtMs = this.#host.clock.nowMs();
    return found;
  }

  /** The statement whose chunks the holder of the secret may download. */
  withSecret(id: string, secret: string): Submitted | undefined {
    const found = this.#byId.get(id) ?? this.#childOf(id);
    if (found === undefined || secret.length !== found.secret.length) return undefined;
    if (!timingSafeEqual(Buffer.from(secret), Buffer.from(found.secret))) return undefined;
    found.askedAtMs = this.#host.clock.nowMs();
    return found;
  }

  /** One of several statements of a text, whose result is asked for by its own id. */
  #childOf(id: string): Submitted | undefined {
    for (const parent of this.#byId.values()) {
      if (!parent.several) continue;
      const child = parent.executions.find(({ polled }) => polled.query.id === id);
      if (child === undefined) continue;
      parent.askedAtMs = this.#host.clock.nowMs();
      const ended = parent.ended || child.outcome !== undefined;
      const own = { id, several: false, executions: [child], over: child.over };
      return { ...parent, ...own, sql: child.polled.query.sql, ended, unread: new Set() };
    }
    return undefined;
  }

  /** Those of a session that still run. */
  runningOf(session: LiveSession): readonly Submitted[] {
    return [...this.#byId.values()].filter((one) => one.session === session && isRunning(one));
  }

  /** True when nobody waits for anything, and no driver is in the middle of a download. */
  get isQuiet(): boolean {
    const goneMs = this.#host.clock.nowMs() - silentMs;
    return ![...this.#byId.values()].some(
      (one) => isRunning(one) || one.waiting > 0 || (one.unread.size > 0 && one.askedAtMs > goneMs),
    );
  }

  /** Something of it was sent: a drain may be over. */
  answered(submitted: Submitted): void {
    submitted.askedAtMs = this.#host.clock.nowMs();
    this.#quiet();
  }

  /** Resolves when it is quiet, or at the deadline. */
  async idle(deadline: AbortSignal): Promise<void> {
    if (this.isQuiet || deadline.aborted) return;
    await new Promise<void>((resolve) => {
      this.#whenQuiet = resolve;
      deadline.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Ends what runs and drops what is kept. */
  async close(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    for (const submitted of this.#byId.values()) cancel(submitted, "gateway.draining");
    await Promise.all([...this.#byId.values()].map((one) => this.#drop(one)));
  }

  async #watch(submitted: Submitted): Promise<void> {
    await submitted.over;
    submitted.ended = true;
    const chunks = submitted.executions.at(-1)?.spool.chunks ?? [];
    for (const index of chunks.keys()) submitted.unread.add(index);
    this.#makeRoom();
    this.#quiet();
  }

  #quiet(): void {
    if (this.isQuiet) this.#whenQuiet?.();
  }

  /** Drops results while there are too many: of the user who has most, the one that was asked for longest ago. */
  #makeRoom(): void {
    const ended = [...this.#byId.values()].filter((one) => !isRunning(one) && one.waiting === 0);
    let length = ended.reduce((sum, one) => sum + lengthOf(one), 0);
    while (ended.length > keptMax || length > keptLengthMax) {
      const most = mostOf(ended);
      const own = ended.filter((one) => userOf(one) === most);
      const oldest = own.toSorted((a, b) => a.askedAtMs - b.askedAtMs)[0];
      if (oldest === undefined) return;
      ended.splice(ended.indexOf(oldest), 1);
      length -= lengthOf(oldest);
      void this.#drop(oldest);
    }
  }

  async #drop(submitted: Submitted): Promise<void> {
    this.#byId.delete(submitted.id);
    await Promise.all(submitted.executions.map(({ spool }) => spool.close()));
  }

  #sweepLater(): void {
    this.#timer = this.#host.clock.timer(sweepMs, () => {
      const goneMs = this.#host.clock.nowMs() - this.#keepMs;
      for (const one of this.#byId.values()) {
        if (one.waiting === 0 && one.askedAtMs < goneMs && !isRunning(one)) void this.#drop(one);
      }
      this.#quiet();
      this.#sweepLater();
    });
  }
}

function userOf({ session }: Submitted): string {
  return session.owner.login.identity.user;
}

function lengthOf({ executions }: Submitted): number {
  return executions.reduce((sum, { spool }) => sum + spool.inlineLength, 0);
}

/** The user with most of them. */
function mostOf(all: readonly Submitted[]): string | undefined {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(userOf(one), (counts.get(userOf(one)) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

/** Whether anything of it may still come. */
export function isRunning({ ended }: Pick<Submitted, "ended">): boolean {
  return !ended;
}

/** Where it is in its life. */
export function stateOf({ ended, executions }: Pick<Submitted, "ended" | "executions">): State {
  if (!ended) return "running";
  return executions.some(({ outcome }) => outcome?.kind === "failed") ? "failed" : "succeeded";
}

/** Ends what runs of it; the client is told the reason. */
export function cancel(
  { executions }: Pick<Submitted, "executions">,
  code:
    | "query.cancelled"
    | "query.abandoned"
    | "query.timeout"
    | "gateway.draining" = "query.cancelled",
): void {
  for (const execution of executions) execution.cancel(gatewayError(code));
}
