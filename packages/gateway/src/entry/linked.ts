/** What the host of a function knows: secrets that SST linked, and variables. The only file that knows SST. */
import { Resource } from "sst";
import type { Surroundings } from "../lambda/settings.ts";

export const surroundings: Surroundings = {
  linked: (name): unknown => (name in Resource ? Reflect.get(Resource, name) : undefined),
  variable: (name) => process.env[name],
};
