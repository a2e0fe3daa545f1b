/** How access control refuses a statement. Every refusal of a table reads alike, so that none says whether it exists. */
import { gatewayError, type GatewayError } from "../error.ts";

export function denied(table: string, why = ""): GatewayError {
  const shown = table.length > 200 ? `${table.slice(0, 200)}…` : table;
  return gatewayError("policy.denied", {
    message: `The table ${shown} is not allowed here${why === "" ? "" : ` ${why}`}, or does not exist.`,
  });
}

export function noTable(name: string): GatewayError {
  const { message } = denied(name);
  const hint = "The catalog does not know it as a table, and views are not looked into here.";
  return gatewayError("policy.denied", { message, hint });
}

export function unfinished(own: readonly string[]): GatewayError {
  const { message } = denied(own.join("."));
  return gatewayError("policy.denied", {
    message,
    hint: "Write its whole name, with schema and catalog: the session does not say them.",
  });
}

export function notUnderstood(what: string): GatewayError {
  return gatewayError("policy.denied", {
    message: `Tables are under access control here, and this statement is not understood: ${what}.`,
  });
}

export const unproven = notUnderstood("the rewritten text does not read as it should");

const retryMs = 1_000;

export const undecided = { ...gatewayError("policy.unavailable"), retryAfterMs: retryMs };

export const unread = {
  tooLong: notUnderstood("it is too long"),
  slow: notUnderstood("it takes too long to read"),
  busy: { ...notUnderstood("too many wait to be read"), retryAfterMs: retryMs },
  broken: { ...notUnderstood("its parser failed"), retryAfterMs: retryMs },
  cancelled: { ...gatewayError("query.cancelled"), retryAfterMs: retryMs },
} as const;
