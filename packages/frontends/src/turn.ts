/** Answers that leave together with the end of a turn of the event loop. */
import { Behind } from "@gateway/core/query/behind.ts";
import { TurnWrites } from "@gateway/core/tool/turn.ts";

/** Of queries whose answers nobody wrote. */
const unwrittenMs = 5;

/** What is left to be done behind them. */
export const behindAnswers: Behind = new Behind((run) => setTimeout(run, unwrittenMs));

export const turnWrites: TurnWrites = new TurnWrites(setImmediate, behindAnswers.run);
