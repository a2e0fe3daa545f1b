/**
 * What PostgreSQL said of texts before, so that it is not asked before each run: the types that it infers for
 * parameters, the types of columns, and how columns are asked for. Never what a statement answers.
 *
 * Whatever may have changed what names mean makes all of it forgotten (`forget`). What another client of the server
 * changes shows in the run, or within `knownMs`.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import { Aged } from "@gateway/core/tool/aged.ts";
import type { Carried } from "../sql/carried.ts";

/** Of one cluster, or of one transaction that made something. Keys hold the text and the steps before it: names mean another thing elsewhere. */
export class KnownTexts {
  /** Names of types of the parameters. */
  readonly parameters: KnownOf<readonly string[]>;
  /** Numbers of types of the columns. */
  readonly columns: KnownOf<readonly number[]>;
  readonly carried: KnownOf<Carried>;
  #era = 0;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.parameters = new KnownOf(clock);
    this.columns = new KnownOf(clock);
    this.carried = new KnownOf(clock);
  }

  /** Changes with each `forget`: what was asked for in another era is not kept. */
  get era(): number {
    return this.#era;
  }

  /** Keeps an answer to what was asked in `era`. */
  put<T>(known: KnownOf<T>, key: string, value: T, era: number): void {
    if (era === this.#era) known.put(key, value);
  }

  forget(): void {
    this.#era += 1;
    this.parameters.clear();
    this.columns.clear();
    this.carried.clear();
  }
}

class KnownOf<T> {
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #entries = new Aged<string, { readonly value: T; readonly putMs: number }>();

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  get(key: string): T | undefined {
    const found = this.#entries.get(key);
    if (found === undefined || this.#clock.nowMs() - found.putMs > knownMs) return undefined;
    return found.value;
  }

  put(key: string, value: T): void {
    if (key.length > keyLengthMax) return;
    const { oldest } = this.#entries;
    if (this.#entries.size >= keysMax && oldest !== undefined) this.#entries.delete(oldest[0]);
    this.#entries.put(key, { value, putMs: this.#clock.nowMs() });
  }

  clear(): void {
    this.#entries.clear();
  }
}

export const knownMs = 60_000;
const keysMax = 500;
const keyLengthMax = 8_192;
