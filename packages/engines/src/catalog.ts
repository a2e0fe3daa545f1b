/** Every engine this build knows, by its key in the config. Adding one is a folder and a line here. */
import { adbc } from "./adbc/engine.ts";
import { clickHouse } from "./clickHouse/engine.ts";
import { duckDb } from "./duckDb/engine.ts";
import { mysql } from "./mysql/engine.ts";
import { postgresql } from "./postgresql/engine.ts";
import { starRocks } from "./starRocks/engine.ts";
import { trino } from "./trino/engine.ts";

export const engines = { adbc, clickHouse, duckDb, mysql, postgresql, starRocks, trino } as const;
