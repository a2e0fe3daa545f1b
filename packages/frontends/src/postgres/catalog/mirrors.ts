/** The mirrors of one listener: at most two, by what their readers may see, and none that nobody asks. */
import type { Door } from "@gateway/core/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { err, type Result } from "@gateway/core/result.ts";
import type { CatalogMode } from "../config.ts";
import type { Asked, Outcome } from "./link.ts";
import { Mirror, type Place } from "./mirror.ts";

/** Each takes about 300 MB. */
const mirrorsMax = 2;
/** A mirror that nobody asked for so long gives its memory back. */
const idleMsMax = 300_000;

/** What routers and policies see of a listing. */
const listingSql = "SELECT * FROM information_schema.columns";

interface Kept {
  readonly key: string;
  readonly mirror: Mirror;
  idle: Disposable | undefined;
}

export class Mirrors implements AsyncDisposable {
  readonly mode: CatalogMode;
  readonly #door: Door;
  readonly #host: Host;
  /** The one asked last stands last. */
  #kept: readonly Kept[] = [];
  #changedAtMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(mode: CatalogMode, door: Door, host: Host) {
    this.mode = mode;
    this.#door = door;
    this.#host = host;
  }

  /** Mirrors that are kept, started or not. */
  get alive(): number {
    return this.#kept.length;
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
    const query = this.#door.query(listingSql, [], session);
    const scope = await this.#door.tables(query, signal);
    if (!scope.ok) return scope;
    for (;;) {
      if (this.#closed) return err(gatewayError("gateway.draining"));
      const kept = await this.#take(scope.value.key, session);
      const freshFromMs = relist ? this.#host.clock.nowMs() : this.#changedAtMs;
      const outcome = await kept.mirror.ask(request, scope.value, { freshFromMs, signal });
      this.#rest(kept);
      // Another place took its memory meanwhile.
      const gone = outcome.ok && outcome.value.kind === "lost" && outcome.value.code === "closed";
      if (!gone || signal.aborted) return outcome;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const all = this.#kept;
    this.#kept = [];
    await Promise.all(all.map((kept) => this.#stop(kept)));
  }

  async #take(scope: string, session: Session): Promise<Kept> {
    const key = JSON.stringify([scope, session.catalog ?? null]);
    const found = this.#kept.find((kept) => kept.key === key);
    const kept = found ?? {
      key,
      mirror: new Mirror({
        host: this.#host,
        catalog: session.catalog,
        catalogs: () => this.#door.catalogs(session),
      }),
      idle: undefined,
    };
    kept.idle?.[Symbol.dispose]();
    const others = this.#kept.filter((other) => other !== kept);
    const room = others.length < mirrorsMax;
    const least = room ? undefined : (others.find(({ mirror }) => mirror.busy === 0) ?? others[0]);
    this.#kept = [...others.filter((other) => other !== least), kept];
    // Whoever waits in it starts it anew, once its memory is back.
    if (least !== undefined) await this.#stop(least);
    return kept;
  }

  #rest(kept: Kept): void {
    kept.idle?.[Symbol.dispose]();
    if (kept.mirror.busy > 0 || this.#closed) return;
    kept.idle = this.#host.clock.timer(idleMsMax, () => {
      this.#kept = this.#kept.filter((other) => other !== kept);
      this.#stop(kept).catch((bug: unknown) => this.#host.log.bug(bug));
    });
  }

  async #stop(kept: Kept): Promise<void> {
    kept.idle?.[Symbol.dispose]();
    await kept.mirror[Symbol.asyncDispose]();
  }
}
