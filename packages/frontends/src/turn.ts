/** Answers that leave together with the end of a turn of the event loop. */
import { setImmediate as turn } from "node:timers/promises";
import { Behind } from "@gateway/core/query/behind.ts";
import { TurnWrites } from "@gateway/core/tool/turn.ts";

/** Of queries whose answers nobody wrote. */
const unwrittenMs = 5;

/** What is left to be done behind them. */
export const behindAnswers: Behind = new Behind((run) => setTimeout(run, unwrittenMs));

export const turnWrites: TurnWrites = new TurnWrites(setImmediate, behindAnswers.run);

/** Rows that lie ready are worth a write of their own from here on; fewer are copied behind what stands beside them. */
export const ownWriteMin: number = 32 * 1024;

/** After so many bytes that a socket took at once, other connections get a turn. */
const bytesPerTurn = 1024 * 1024;

/** Gives the rest of the process a turn now and then: a fast engine with a fast client would never do so. */
export class Breath {
  #bytes = 0;

  /** Behind so many bytes of a result that were sent. */
  async behind(bytes: number): Promise<void> {
    this.#bytes += bytes;
    if (this.#bytes < bytesPerTurn) return;
    this.#bytes = 0;
    await turn();
  }
}
