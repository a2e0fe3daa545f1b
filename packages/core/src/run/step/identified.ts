/** Translate and identify: what an engine is given, and as whom, once a slot says which engine it is. */
import type { GatewayError } from "../../error.ts";
import type { Identified, Policed, QueryLimits, Translated } from "../../query/query.ts";
import type { Slot } from "../../query/slot.ts";
import { admittedOn } from "../../query/stages.ts";
import type { Result } from "../../result.ts";
import type { Generation } from "../../snapshot/generation.ts";
import { uncountedFormats } from "../../type/vector.ts";

/** A promise only where something is waited for: most return at once. */
export function identifiedOn(
  slot: Slot,
  query: Policed,
  generation: Generation,
  signal: AbortSignal,
): Result<Identified, GatewayError> | Promise<Result<Identified, GatewayError>> {
  const translated = generation.translate(admittedOn(countable(query, generation), slot), signal);
  if (translated instanceof Promise)
    return translated.then((found) => identify(found, generation, signal));
  return identify(translated, generation, signal);
}

function identify(
  translated: Result<Translated, GatewayError>,
  generation: Generation,
  signal: AbortSignal,
): Result<Identified, GatewayError> | Promise<Result<Identified, GatewayError>> {
  return translated.ok ? generation.identify(translated.value, signal) : translated;
}

/** What the query may take: its group's limits, with those of the guards that judged it. */
export function limitsOf({ group, guarded }: Policed, generation: Generation): QueryLimits {
  return guarded?.limits ?? generation.limits(group);
}

/** Where the group has a limit of rows the engine is not asked for a form that nobody counts. */
function countable(query: Policed, generation: Generation): Policed {
  if (limitsOf(query, generation).maxRows === undefined) return query;
  if (query.takes.every((format) => !uncountedFormats.has(format))) return query;
  return { ...query, takes: query.takes.filter((format) => !uncountedFormats.has(format)) };
}
