/** What a guard that was asked says, in the client's words and in the record's. */
import { gatewayError, type GatewayError } from "../error.ts";
import type { GuardSaid } from "./webhook.ts";

/** Told what each guard did, for the query's record. */
export interface PolicyLog {
  acted(action: string): void;
}

/** A refusal, or what the client is warned of; undefined where the guard lets the statement through in silence. */
export function toldBy(
  { name, message }: { readonly name: string; readonly message: string | undefined },
  said: GuardSaid,
  log: PolicyLog,
): GatewayError | { readonly warning: string } | undefined {
  if (said === null) return undefined;
  if ("warn" in said) {
    log.acted(`guard ${name}: warned: ${said.warn}`);
    return { warning: warningOf(name, message ?? said.warn) };
  }
  log.acted(`guard ${name}: denied: ${said.deny}`);
  // The guard's own message says what a statement must be, and not that nobody was there to say so.
  return said.unavailable === true
    ? unavailableBy(name, said.deny)
    : deniedBy(name, message ?? said.deny);
}

export function warningOf(name: string, text: string): string {
  return `${text} (guard ${name})`;
}

export function deniedBy(name: string, message: string): GatewayError {
  const hint = `The guard ${name} of the configuration denies it.`;
  return gatewayError("policy.denied", { message, hint });
}

/** Nobody said no; the statement may run later. */
export function unavailableBy(name: string, message: string): GatewayError {
  const hint = `The guard ${name} of the configuration has to be answered before it runs.`;
  return { ...gatewayError("policy.unavailable", { message, hint }), retryAfterMs: retryMs };
}

const retryMs = 1_000;
