/** What `readers.mjs` bundles. */
import { Chance as OwnChance } from "@gateway/frontends/trino/rig/fuzz.ts";
import { targets as allTargets } from "./readers.ts";

export const Chance = OwnChance;
export const targets = allTargets;
