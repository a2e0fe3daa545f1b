/** What a compiled router and a compiled condition are. How each kind decides is in the files beside. */
import type { GatewayError } from "../../error.ts";
import type { Query } from "../../query/query.ts";
import type { Result } from "../../result.ts";

/** What a router says to a query. `rule` is the index of the rule that decided, where the router has rules. */
export type RuleDecision =
  | { readonly kind: "none" }
  | { readonly kind: "group"; readonly group: string; readonly rule?: number }
  /** `error` is the rule's own text for the client. */
  | { readonly kind: "deny"; readonly error: string | undefined; readonly rule?: number };

/** A router, compiled once per generation. Takes constant time, except where it matches text. */
export type Rule = (query: Query) => RuleDecision;

/** A router without a target: only whether it matches. */
export type Condition = (query: Query) => boolean;

/** A rule or a condition that may ask a script: a promise only where it does. What fails is no answer, and refuses the query. */
export type LaterRule = (
  query: Query,
) => RuleDecision | Promise<Result<RuleDecision, GatewayError>>;
export type LaterCondition = (query: Query) => boolean | Promise<Result<boolean, GatewayError>>;

/** The decision of a router that does not match. */
export const noMatch: RuleDecision = { kind: "none" };

/** The decision of a router that looks a value up in a table of targets. */
export function groupOrNone(group: string | undefined): RuleDecision {
  return group === undefined ? noMatch : { kind: "group", group };
}
