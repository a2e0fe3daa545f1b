/** Answers that leave together with the end of a turn of the event loop. */
import { TurnWrites } from "@gateway/core/tool/turn.ts";

export const turnWrites: TurnWrites = new TurnWrites(setImmediate);
