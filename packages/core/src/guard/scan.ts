/** Limits of what a statement reads, judged by its engine's own estimate: on the slot, right before it runs. */
import type { ScanGuardConfig } from "@gateway/contract/config/guardrail.ts";
import { abortError, withoutPosition, type GatewayError } from "../error.ts";
import type { ScanEstimate } from "../port/backend.ts";
import type { Identified, ScanLimit } from "../query/query.ts";
import { err, ok, type Result } from "../result.ts";
import { toldBy, type PolicyLog } from "./told.ts";

/** Asks the engine where the statement will run. Undefined where that one can not estimate. */
export type AskScan = (
  query: Identified,
) => Promise<Result<ScanEstimate, GatewayError>> | undefined;

export function scanLimitOf(config: ScanGuardConfig): ScanLimit {
  const { name, message, maxBytes, action, whenUnknown } = config;
  const passesUnknown = whenUnknown === "allow";
  return { name, message, maxBytes, warns: action === "warn", passesUnknown };
}

/** What the client is warned of, or why the statement does not run. One question serves all limits. */
export async function scanSaid(
  query: Identified,
  limits: readonly ScanLimit[],
  { askScan, log, signal }: { askScan: AskScan; log: PolicyLog; signal: AbortSignal },
): Promise<Result<readonly string[], GatewayError>> {
  if (limits.length === 0) return ok([]);
  const answer = (await askScan(query)) ?? ok({ unknown: "its engine does not say" });
  if (signal.aborted) return err(abortError(signal));
  if (!answer.ok)
    return query.engineSql === query.sql ? answer : err(withoutPosition(answer.error));
  const warnings: string[] = [];
  for (const limit of limits) {
    const reason = reasonOf(limit, answer.value);
    const said = reason === undefined ? null : limit.warns ? { warn: reason } : { deny: reason };
    const told = toldBy(limit, said, log);
    if (told === undefined) continue;
    if (!("warning" in told)) return err(told);
    warnings.push(told.warning);
  }
  return ok(warnings);
}

function reasonOf(
  { maxBytes, passesUnknown }: ScanLimit,
  estimate: ScanEstimate,
): string | undefined {
  if ("unknown" in estimate)
    return passesUnknown
      ? undefined
      : `How much the statement would read is limited here and not known: ${estimate.unknown}.`;
  // What is no number is above every limit.
  return estimate.bytes <= maxBytes
    ? undefined
    : `The statement would read about ${estimate.bytes} bytes; at most ${maxBytes} are allowed.`;
}
