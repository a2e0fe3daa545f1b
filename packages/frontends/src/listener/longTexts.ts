/**
 * Reads long texts of all connections in slices, so that whoever sends a short one never waits for them.
 *
 * What waits is limited for all of a process, and no user fills more than half of it: the rest is
 * refused, because a text that waits is held in memory.
 */
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Slices } from "@gateway/core/port/host.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { readLongText } from "@gateway/core/sql/longText.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";

/** UTF-16 units of texts that wait or are read, of all users together. */
const waitingUnitsMax = 64 * 1024 * 1024;

export interface LongText {
  readonly sql: string;
  /** The client's. */
  readonly dialect: Dialect;
  /** What the frontend will read of it besides; false where a text that it holds has too many tokens. */
  readonly also?: (sql: string, tokensMax: number) => Steps<boolean>;
  readonly limits: Pick<ListenerConfig, "maxStatementTokens">;
  readonly user: string;
  /** Of a client that left nothing is read any more. */
  readonly client: { readonly over: boolean };
}

export class LongTexts {
  readonly #units = new Map<string, number>();
  readonly #unitsMax: number;
  #allUnits = 0;

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
  admit(text: LongText, slices: Slices): Promise<GatewayError | undefined> | undefined {
    const { length } = text.sql;
    if (length <= Math.min(longTextUnits, text.limits.maxStatementTokens)) return undefined;
    const ofUser = this.#units.get(text.user) ?? 0;
    const fits = this.#allUnits + length <= this.#unitsMax && ofUser + length <= this.#unitsMax / 2;
    // One text alone is always read, however long the config lets it be.
    if (!fits && this.#allUnits > 0) return Promise.resolve(gatewayError("capacity.statementText"));
    return this.#read(text, slices);
  }

  async #read(text: LongText, slices: Slices): Promise<GatewayError | undefined> {
    const { user, sql, client } = text;
    this.#count(user, sql.length);
    try {
      const read = await slices.run({ steps: stepsOf(text), user, client });
      if (read === undefined) return gatewayError("query.cancelled");
      return read ? undefined : tooManyTokens(text.limits.maxStatementTokens);
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
}

/** False for a text of too many tokens. */
function* stepsOf({ sql, dialect, limits, also }: LongText): Steps<boolean> {
  const tokensMax = limits.maxStatementTokens;
  if (!(yield* readLongText(sql, dialect, tokensMax))) return false;
  return also === undefined || (yield* also(sql, tokensMax));
}

function tooManyTokens(limit: number): GatewayError {
  const message = `the text of the statement is larger than the limit of ${limit} tokens`;
  return gatewayError("query.textTooLarge", { message, sqlState: "54001" });
}

/** Of the process: its one thread is what long texts share. */
export const longTexts = new LongTexts();
