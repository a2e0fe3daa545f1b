/**
 * Reads the long texts of all connections in slices, so that no short text has to wait for a long one.
 *
 * Texts that wait take memory. Their sum is limited for the whole process, and to half of that for each user;
 * further ones are refused.
 */
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Slices } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { readLongText } from "@gateway/core/sql/longText.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import {
  decodedInSlices,
  type Decode,
  type Decoded,
  type Decoding,
  type DecodingClient,
} from "./longBytes.ts";

/** The most UTF-16 units that wait or are being read, of all users together. */
const waitingUnitsMax = 64 * 1024 * 1024;

export interface LongText {
  readonly sql: string;
  /** The client's dialect. */
  readonly dialect: Dialect;
  /** It has its place among the long messages already, and is not counted once more. */
  readonly hasRoom?: boolean | undefined;
  /** Whatever else the frontend reads of the text; false where a text inside it has too many tokens. */
  readonly also?: ((sql: string, tokensMax: number) => Steps<boolean>) | undefined;
  readonly limits: Pick<ListenerConfig, "maxStatementTokens">;
  readonly user: string;
  /** The reading stops when the client is gone. */
  readonly client: { readonly over: boolean };
}

/** True for a text that takes others no time: it may be read at once. */
export function isReadAtOnce(sql: string, { maxStatementTokens }: LongText["limits"]): boolean {
  return sql.length <= Math.min(longTextUnits, maxStatementTokens);
}

export class LongTexts {
  readonly #units = new Map<string, number>();
  readonly #unitsMax: number;
  #allUnits = 0;

  constructor(unitsMax = waitingUnitsMax) {
    this.#unitsMax = unitsMax;
  }

  /** UTF-16 units that wait or are being read. */
  get units(): number {
    return this.#allUnits;
  }

  /**
   * Undefined for a text that may be read at once. Otherwise resolves when the text was read, or with the reason
   * of its refusal: `query.textTooLarge` for too many tokens, `capacity.statementText` where too much waits.
   */
  admit(text: LongText, slices: Slices): Promise<GatewayError | undefined> | undefined {
    const { user, sql, client, limits } = text;
    if (isReadAtOnce(sql, limits)) return undefined;
    const units = text.hasRoom === true ? 0 : sql.length;
    if (!this.#fits(user, units)) return Promise.resolve(full());
    const reading = slices.run({ steps: stepsOf(text), user, client });
    return this.#counted(user, units, reading).then((read) => {
      if (read === undefined) return gatewayError("query.cancelled");
      return read ? undefined : tooManyTokens(limits.maxStatementTokens);
    });
  }

  /**
   * Decodes long bytes. While they wait they count as a text of as many units, and the text is never longer.
   * Refused as in `admit`, before anything is decoded.
   */
  async decode(
    bytes: Uint8Array,
    how: Decode | Decoding,
    who: DecodingClient,
    slices: Slices,
  ): Promise<Result<Decoded, GatewayError>> {
    const units = who.hasRoom === true ? 0 : bytes.length;
    if (!this.#fits(who.user, units)) return err(full());
    const decoding = decodedInSlices(bytes, how, who, slices);
    const decoded = await this.#counted(who.user, units, decoding);
    return decoded === undefined ? err(gatewayError("query.cancelled")) : ok(decoded);
  }

  /** A text that is alone is always read, whatever length the config allows. */
  #fits(user: string, units: number): boolean {
    if (units === 0) return true;
    const ofUser = this.#units.get(user) ?? 0;
    const fits = this.#allUnits + units <= this.#unitsMax && ofUser + units <= this.#unitsMax / 2;
    return fits || this.#allUnits === 0;
  }

  async #counted<Found>(user: string, units: number, work: Promise<Found>): Promise<Found> {
    this.#count(user, units);
    try {
      return await work;
    } finally {
      this.#count(user, -units);
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

function full(): GatewayError {
  return gatewayError("capacity.statementText");
}

function tooManyTokens(limit: number): GatewayError {
  const message = `the text of the statement is larger than the limit of ${limit} tokens`;
  return gatewayError("query.textTooLarge", { message, sqlState: "54001" });
}

/** One for the process: all long texts share its one thread. */
export const longTexts = new LongTexts();
