/**
 * Reads long texts of all connections, one after the other and step by step, so that whoever sends a
 * short one never waits for them.
 *
 * Users take turns. What waits is limited for all of a process, and no user fills more than half of it: the
 * rest is refused, because a text that waits is held in memory.
 */
import { setImmediate } from "node:timers/promises";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { readLongText } from "@gateway/core/sql/longText.ts";
import { longTextUnits } from "@gateway/core/sql/readAhead.ts";

/** UTF-16 units of texts that wait or are read, of all users together. */
const waitingUnitsMax = 64 * 1024 * 1024;

export interface LongText {
  readonly sql: string;
  /** The client's, and those of engines that may ask for the same text. */
  readonly dialects: readonly Dialect[];
  readonly limits: Pick<ListenerConfig, "maxStatementTokens">;
  readonly user: string;
  /** Of a client that left nothing is read any more. */
  readonly client: { readonly over: boolean };
}

interface Waiter {
  readonly text: LongText;
  readonly done: (refusal: GatewayError | undefined) => void;
}

export class LongTexts {
  /** Waiters by user, in the order of their next turns. */
  readonly #users = new Map<string, Waiter[]>();
  readonly #units = new Map<string, number>();
  readonly #unitsMax: number;
  #allUnits = 0;
  #reading = false;

  constructor(unitsMax = waitingUnitsMax) {
    this.#unitsMax = unitsMax;
  }

  /** UTF-16 units of what waits or is read. */
  get units(): number {
    return this.#allUnits;
  }

  /**
   * Nothing for a text that may be read at once. Otherwise resolves when it was read, or with why it is
   * refused: `query.textTooLarge` for too many tokens, `capacity.statementText` where too much waits.
   */
  admit(text: LongText): Promise<GatewayError | undefined> | undefined {
    const { length } = text.sql;
    if (length <= Math.min(longTextUnits, text.limits.maxStatementTokens)) return undefined;
    const ofUser = this.#units.get(text.user) ?? 0;
    const fits = this.#allUnits + length <= this.#unitsMax && ofUser + length <= this.#unitsMax / 2;
    // One text alone is always read, however long the config lets it be.
    if (!fits && this.#allUnits > 0) return Promise.resolve(gatewayError("capacity.statementText"));
    return this.#wait(text);
  }

  async #wait(text: LongText): Promise<GatewayError | undefined> {
    const { user, sql } = text;
    this.#count(user, sql.length);
    try {
      return await new Promise<GatewayError | undefined>((done) => {
        const waiting = this.#users.get(user);
        if (waiting === undefined) this.#users.set(user, [{ text, done }]);
        else waiting.push({ text, done });
        if (!this.#reading) void this.#readAll();
      });
    } finally {
      this.#count(user, -sql.length);
    }
  }

  #count(user: string, units: number): void {
    this.#allUnits += units;
    const ofUser = (this.#units.get(user) ?? 0) + units;
    if (ofUser === 0) this.#units.delete(user);
    else this.#units.set(user, ofUser);
  }

  async #readAll(): Promise<void> {
    this.#reading = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      next.done(await readOne(next.text));
      // What was read goes on before the next one is begun.
      await setImmediate();
    }
    this.#reading = false;
  }

  /** The first waiter of the user whose turn is next; that user's others then stand behind all users. */
  #next(): Waiter | undefined {
    const [first] = this.#users;
    if (first === undefined) return undefined;
    const [user, waiting] = first;
    const waiter = waiting.shift();
    this.#users.delete(user);
    if (waiting.length > 0) this.#users.set(user, waiting);
    return waiter;
  }
}

async function readOne({ sql, dialects, limits, client }: LongText) {
  const { maxStatementTokens } = limits;
  for (const dialect of dialects) {
    const reading = readLongText(sql, dialect, maxStatementTokens);
    let step = reading.next();
    while (step.done !== true && !client.over) {
      await setImmediate();
      step = reading.next();
    }
    if (client.over) return gatewayError("query.cancelled");
    if (step.value === false) return tooManyTokens(maxStatementTokens);
  }
  return undefined;
}

function tooManyTokens(limit: number): GatewayError {
  const message = `the text of the statement is larger than the limit of ${limit} tokens`;
  return gatewayError("query.textTooLarge", { message, sqlState: "54001" });
}

/** Of the process: its one thread is what long texts share. */
export const longTexts = new LongTexts();
