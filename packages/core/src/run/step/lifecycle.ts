/** Opening and closing a query in this process: the live list, the gauges, the record. Decides nothing. */
import type { RoutingStep } from "@gateway/contract/record.ts";
import { abortError, type GatewayError } from "../../error.ts";
import type { AdmitRequest } from "../../port/capacity.ts";
import type { Gauge } from "../../port/metrics.ts";
import type { Slot } from "../../query/slot.ts";
import type { Clock } from "../../port/clock.ts";
import { err, ok, type Result } from "../../result.ts";
import type { Generation } from "../../snapshot/generation.ts";
import type { LastEvent } from "../../query/event.ts";
import type { LiveQuery } from "./live.ts";
import type { DataPlane } from "./plane.ts";
import type { Identified, Query, QueryLimits, Routed } from "../../query/query.ts";
import type { Admission, Underway } from "./underway.ts";

export class OpenQuery implements Underway {
  readonly query: Query;
  readonly live: LiveQuery;
  /** Its driver takes a result that comes with its end. */
  readonly whole: boolean;
  /** Revision of the generation the query holds. */
  revision = "none";
  readonly #plane: DataPlane;
  #remains: Promise<void> | undefined;

  /** Puts the query on the live list. Every opened query is closed exactly once. */
  constructor(query: Query, plane: DataPlane, client: AbortSignal, whole: boolean = false) {
    this.query = query;
    this.whole = whole;
    this.live = plane.live.open(query, plane.host.clock, client);
    this.#plane = plane;
    plane.history.begin?.(query.id);
  }

  get signal(): AbortSignal {
    return this.live.signal;
  }

  get trace(): RoutingStep[] {
    return this.live.trace;
  }

  cancel(reason: GatewayError): void {
    this.live.cancel(reason);
  }

  holds(revision: string): void {
    this.revision = revision;
  }

  routed({ group, session }: Routed): void {
    this.live.group = group;
    this.live.tags = session.tags;
  }

  acted(action: string): void {
    this.live.acted(action);
  }

  identified(query: Identified): void {
    this.live.identified(query);
  }

  get clock(): Clock {
    return this.#plane.host.clock;
  }

  /** The client has been told the end, but the engine still runs the query: it is closed when `ended` resolves. */
  remains(ended: Promise<void>): void {
    this.#remains = ended;
  }

  /** Takes it off the list, writes its record and counts it: at once, or when the engine is done. */
  close(last: LastEvent): void {
    const kept = this.query.mysql?.home.kept;
    if (kept !== undefined) {
      const outcome = `${kept.cluster}: its own connection, for ${kept.reason}`;
      this.live.trace.push({ step: "session", outcome });
    }
    if (this.#remains === undefined) this.#close(last);
    else void this.#remains.then(() => this.#close(last));
  }

  #close(last: LastEvent): void {
    const { live, query } = this;
    const { metrics, history, worker } = this.#plane;
    this.#plane.live.closed(live);
    const record = live.close(last, { revision: this.revision, worker });
    const engine = live.engine ?? "none";
    const group = live.group ?? "none";
    metrics.finished(engine, group, record.status, query.session.frontend).add(1);
    metrics.duration(engine, group).observe((record.queueMs + record.executionMs) / 1000);
    history.append(record);
  }

  /** A slot, when one is free; undefined otherwise. */
  slotNow(request: AdmitRequest): Result<Slot, GatewayError> | undefined {
    const { signal } = this.live;
    if (signal.aborted) return err(abortError(signal));
    // What others left behind their answers is what this one needs: their slots.
    this.#plane.behind?.run();
    const slot = this.#plane.capacity.admitNow(request);
    if (slot === undefined) return undefined;
    this.#waited();
    return ok(slot);
  }

  /** Waits for a slot, passes queue positions on and keeps the gauge of waiting queries right, however the wait ends. */
  async *slotLater(request: AdmitRequest): Admission {
    const group = this.#group;
    const gauge = this.#plane.metrics.queued(group);
    const admission = this.#plane.capacity.admit(request, this.live.signal);
    let queued = false;
    try {
      let step = await admission.next();
      while (step.done !== true) {
        if (!queued) gauge.add(1);
        queued = true;
        if (step.value.kind === "queued") this.live.position = step.value.position;
        yield step.value;
        step = await admission.next();
      }
      this.#waited();
      if (!step.value.ok) countRefusal(step.value.error, group, this.#plane);
      return step.value;
    } finally {
      this.live.position = undefined;
      if (queued) gauge.add(-1);
      // Leaves the queue when the client stopped reading; after the end it does nothing.
      await admission.return(undefined as never);
    }
  }

  /** Marks the query as running on a cluster until disposed. */
  running(cluster: string, generation: Generation, limits: QueryLimits): Disposable {
    const group = this.#group;
    this.live.started(cluster, limits);
    this.live.ranOn(generation.backend(cluster));
    const gauge = this.#plane.metrics.running(group, cluster);
    return new Running(gauge);
  }

  get #group(): string {
    return this.live.group ?? "none";
  }

  #waited(): void {
    this.#plane.metrics.queueDuration(this.#group).observe(this.live.granted() / 1000);
  }
}

/** Counts one query as running until it is disposed. */
class Running implements Disposable {
  #gauge: Gauge | undefined;

  constructor(gauge: Gauge) {
    gauge.add(1);
    this.#gauge = gauge;
  }

  [Symbol.dispose](): void {
    this.#gauge?.add(-1);
    this.#gauge = undefined;
  }
}

function countRefusal(error: GatewayError, group: string, plane: DataPlane): void {
  if (error.code === "capacity.queueFull" || error.code === "capacity.timeout") {
    plane.metrics.rejections(group).add(1);
  }
}
