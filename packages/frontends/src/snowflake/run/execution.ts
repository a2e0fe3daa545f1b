/**
 * One statement in its engine: its events become what is known of it, its rows go to the spool. It runs on whether anybody
 * waits or not; who may see it and for how long is the registry's business.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { PolledQuery } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { DoneEvent, ResultEvent, SessionChange } from "@gateway/core/query/event.ts";
import { neverAborted } from "@gateway/core/tool/canceller.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { Pot } from "./pot.ts";
import { formatOf } from "./rowFormat.ts";
import { RowSpool } from "./spool.ts";

/** One wait for an event; nobody is waiting behind it. */
const waitMs = 60_000;

export interface ExecutionParts {
  readonly polled: PolledQuery;
  readonly host: Pick<Host, "log" | "randomBytes">;
  readonly resultBytesMax: number;
  readonly pot: Pot;
  /** The driver would rather have Arrow than JSON. */
  readonly wantsArrow: boolean;
  /** What the session takes over, as it happens. */
  readonly onChange: (change: SessionChange) => void;
}

/** How it ended. */
export type Outcome =
  | { readonly kind: "done"; readonly done: DoneEvent }
  | { readonly kind: "failed"; readonly error: GatewayError };

export class Execution {
  readonly polled: PolledQuery;
  readonly spool: RowSpool;
  /** Resolves at its end. Never rejects. */
  readonly over: Promise<void>;
  columns: readonly Column[] | undefined;
  outcome: Outcome | undefined;
  readonly #parts: ExecutionParts;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
    this.polled = parts.polled;
    const { host, resultBytesMax: bytesMax, pot, polled } = parts;
    this.spool = new RowSpool({ host, bytesMax, pot, user: polled.owner.user });
    this.over = this.#pump();
  }

  cancel(reason?: GatewayError): void {
    if (this.outcome === undefined) this.polled.cancel(reason);
  }

  async #pump(): Promise<void> {
    while (this.outcome === undefined) {
      const event = await this.polled.next(waitMs, neverAborted);
      if (event === undefined) continue;
      try {
        await this.#take(event);
      } catch (bug) {
        this.#parts.host.log.bug(bug, { queryId: this.polled.query.id });
        this.polled.cancel();
        this.outcome = { kind: "failed", error: gatewayError("internal.bug") };
      }
    }
    this.polled.forget?.();
    if (this.outcome.kind === "failed") await this.spool.close();
  }

  async #take(event: ResultEvent): Promise<void> {
    switch (event.kind) {
      case "columns":
        this.columns = event.columns;
        this.spool.format = formatOf(event.columns, this.#parts.wantsArrow);
        return;
      case "batch":
        this.#refuse(await this.spool.add(event.batch));
        return;
      case "session":
        this.#parts.onChange(event.change);
        return;
      case "done":
        this.#refuse(await this.spool.finish());
        this.outcome ??= { kind: "done", done: event };
        return;
      case "failed":
        this.outcome = { kind: "failed", error: event.error };
        return;
      case "queued":
      case "progress":
      case "notice":
        return;
    }
  }

  #refuse(error: GatewayError | undefined): void {
    if (error === undefined) return;
    this.polled.cancel(error);
    this.outcome = { kind: "failed", error };
  }
}
