/** Turns what a policy server says of one table into a decision, or into a refusal where it can not be written. */
import type { TableDecision, ViewColumn } from "../port/sql/policy.ts";
import { expressionProblem } from "./expression.ts";
import { withValues, type Values } from "./values.ts";

/** As a rule of the configuration says it: SQL of the engine, with `${user}` and the others for the caller's values. */
export interface TableAnswer {
  readonly rule: string;
  readonly rowFilter: string | undefined;
  readonly columns: readonly string[] | undefined;
  readonly masks: Readonly<Record<string, string>>;
}

type Decided = Exclude<TableDecision, { kind: "unavailable" }>;

/** Denies what is not one expression on its own, and a mask of a column that is not shown. */
export function decisionOf(answer: TableAnswer, values: Values): Decided {
  const { rule, rowFilter, columns, masks } = answer;
  const deny = (reason: string): Decided => ({ kind: "deny", rule, reason });
  const rows = rowFilter === undefined ? undefined : expression(rowFilter, values);
  if (rows === undefined && rowFilter !== undefined) return deny("a row filter that can not stand");
  const names = columns ?? Object.keys(masks);
  if (columns === undefined && names.length === 0) {
    return { kind: "allow", rule, view: rows === undefined ? undefined : { rows, columns } };
  }
  if (names.length === 0) return deny("no columns");
  if (new Set(names).size < names.length) return deny("a column that is there twice");
  if (Object.keys(masks).some((name) => !names.includes(name))) {
    return deny("a mask of a column that is not shown");
  }
  const shown: ViewColumn[] = [];
  for (const name of names) {
    const mask = Object.hasOwn(masks, name) ? masks[name] : undefined;
    const written = mask === undefined ? undefined : expression(mask, values);
    if (written === undefined && mask !== undefined) return deny("a mask that can not stand");
    shown.push({ name, mask: written });
  }
  return {
    kind: "allow",
    rule,
    view: { rows, columns: columns === undefined ? { masked: shown } : shown },
  };
}

function expression(text: string, values: Values): string | undefined {
  return expressionProblem(text) === undefined ? withValues(text, values) : undefined;
}
