/** Every engine this build knows, by its key in the config. Adding one is a folder and a line here. */
import { clickHouse } from "./clickHouse/engine.ts";
import { duckDb } from "./duckDb/engine.ts";
import { starRocks } from "./starRocks/engine.ts";

export const engines = { clickHouse, duckDb, starRocks } as const;
