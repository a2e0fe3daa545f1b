/**
 * Says how old the configuration in an answer is. Reads are answered from memory, also when the
 * database is down or a build failed; whoever decides by them must be able to see that.
 */
import type { ControlDeps } from "../deps.ts";

/** Headers of an answer that was made from memory. The reason stands in `/admin/status`. */
export function freshnessHeaders({ config, clock }: ControlDeps): Readonly<Record<string, string>> {
  const { confirmedAt, problem } = config.freshness();
  const ageSecs = Math.max(0, Math.floor((clock.unixMs() - confirmedAt) / 1_000));
  const stale = problem === undefined ? {} : { warning: '110 - "Response is Stale"' };
  return { "gateway-config-age": String(ageSecs), ...stale };
}
