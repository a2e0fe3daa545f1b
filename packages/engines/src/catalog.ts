/** Every engine this build knows, by its key in the config. Adding one is a folder and a line here. */
import { duckDb } from "./duckDb/engine.ts";

export const engines = { duckDb } as const;
