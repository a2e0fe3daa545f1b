/** What `readers.mjs` bundles. */
import { Chance as OwnChance } from "@gateway/wire/http/rig/responses.ts";
import { targets as allTargets } from "./readers.ts";

export const Chance = OwnChance;
export const targets = allTargets;
