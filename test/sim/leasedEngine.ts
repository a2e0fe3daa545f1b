/** The engine of the simulation, which judges: what runs on it is compared with the caps at every start, and nobody else is asked. */
import type { TestCaps } from "@gateway/core/capacity/rig/leases.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { RunningStatements } from "@gateway/core/port/backend.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { ok, type Result } from "@gateway/core/result.ts";

interface Statement {
  readonly tag: string;
  readonly cluster: string;
  readonly group: string;
  readonly user: string;
  /** When it shows in the listing. */
  shownAtMs: number;
  state: "sent" | "runs" | "over";
  /** Called with each change of the state. */
  readonly changed: (() => void)[];
}

export interface SentStatement {
  readonly tag: string;
  readonly cluster: string;
  readonly group: string;
  readonly user: string;
  readonly runMs: number;
  readonly arrivesMs: number;
}

/** A statement that was accepted shows after this at the latest. */
const showMsMax = 700;

export class LeasedEngine {
  readonly clusters: readonly string[];
  /** Statements that ran. */
  ran = 0;
  /** Highest number at once on a cluster, against its cap: 1 is a full cap. */
  fullest = 0;
  /** A user ran as many as it may. */
  userFull = false;
  violation: string | undefined;
  readonly #clock: Clock;
  readonly #caps: TestCaps;
  readonly #random: () => number;
  readonly #statements = new Map<string, Statement>();

  constructor(clock: Clock, caps: TestCaps, random: () => number) {
    this.#clock = clock;
    this.#caps = caps;
    this.#random = random;
    this.clusters = Object.keys(caps.cluster);
  }

  /** Statements that run now. */
  get running(): number {
    return this.#runningOf(() => true);
  }

  send({ runMs, arrivesMs, ...sent }: SentStatement): void {
    const statement: Statement = { ...sent, shownAtMs: 0, state: "sent", changed: [] };
    this.#statements.set(sent.tag, statement);
    this.#clock.timer(arrivesMs, () => {
      if (statement.state !== "sent") return;
      become(statement, "runs");
      statement.shownAtMs = this.#clock.nowMs() + this.#random() * showMsMax;
      this.ran += 1;
      this.#judge(statement);
      this.#clock.timer(runMs, () => become(statement, "over"));
    });
  }

  /** Calls `tell` when the statement has begun, or is over; at once when it has. */
  when(tag: string, state: "begun" | "over", tell: () => void): void {
    const statement = this.#statements.get(tag);
    const is = (): boolean =>
      state === "over" ? statement?.state === "over" : statement?.state !== "sent";
    if (is()) tell();
    else statement?.changed.push(() => is() && tell());
  }

  /** The worker's own end of its statement. One that is on its way arrives all the same. */
  end(tag: string): void {
    const statement = this.#statements.get(tag);
    if (statement?.state === "runs") become(statement, "over");
  }

  /** An engine obeys after a while. */
  endLater(tag: string): Result<void, GatewayError> {
    this.#clock.timer(this.#random() * 3_000, () => this.end(tag));
    return ok(undefined);
  }

  list(cluster: string): Result<RunningStatements, GatewayError> {
    const nowMs = this.#clock.nowMs();
    const tags = [...this.#statements.values()]
      .filter((one) => one.cluster === cluster && one.state === "runs" && one.shownAtMs <= nowMs)
      .map(({ tag }) => tag);
    return ok({ tags, complete: true, delayMs: showMsMax });
  }

  #judge({ cluster, group, user }: Statement): void {
    const whole = this.#runningOf((one) => one.cluster === cluster);
    const part = this.#runningOf((one) => one.cluster === cluster && one.group === group);
    const cap = this.#caps.cluster[cluster] ?? 0;
    const groupCap = this.#caps.group[`${group}/${cluster}`] ?? 0;
    this.fullest = Math.max(this.fullest, whole / cap);
    const at = `at ${Math.round(this.#clock.nowMs())} ms`;
    if (whole > cap) this.violation ??= `${whole} of ${cap} run on ${cluster} ${at}`;
    if (part > groupCap) this.violation ??= `${part} of ${groupCap} run for ${group} ${at}`;
    const own = this.#runningOf((one) => one.group === group && one.user === user);
    const ownCap = this.#caps.user ?? Number.POSITIVE_INFINITY;
    if (own === ownCap) this.userFull = true;
    if (own > ownCap) this.violation ??= `${own} of ${ownCap} run for ${user} ${at}`;
  }

  #runningOf(fits: (one: Statement) => boolean): number {
    let count = 0;
    for (const one of this.#statements.values()) if (one.state === "runs" && fits(one)) count += 1;
    return count;
  }
}

function become(statement: Statement, state: Statement["state"]): void {
  if (statement.state === "over") return;
  statement.state = state;
  for (const tell of statement.changed) tell();
}
