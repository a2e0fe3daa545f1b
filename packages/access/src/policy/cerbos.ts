/**
 * Cerbos as a policy: its plan for one action on tables of one kind. What the plan leaves open is a condition over
 * `request.resource.attr.row`, which is written as SQL here; an operator that has no form there denies.
 */
import type { CerbosConfig } from "@gateway/contract/config/policyServer.ts";
import {
  conditionText,
  type Comparison,
  type Condition,
  type ConditionOperand,
} from "@gateway/core/police/condition.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { ClosablePolicy } from "@gateway/core/port/sql/policy.ts";
import { z } from "zod";
import {
  askedTable,
  remotePolicy,
  type Decided,
  type PolicyServer,
  type Told,
} from "./remotePolicy.ts";
import { columnIn } from "./ucast.ts";

/** Cerbos asks for a role; every caller has this one beside its own. */
const everyone = "user";

export function cerbosPolicy(config: CerbosConfig & Told, host: Host): ClosablePolicy {
  return remotePolicy(planApi(config), config, host);
}

const planSchema = z.looseObject({
  action: z.string(),
  resourceKind: z.string(),
  filter: z.strictObject({ kind: z.string(), condition: z.unknown().optional() }),
  // With schemas enforced, a plan stands beside what did not fit them.
  validationErrors: z.array(z.unknown()).max(0).optional(),
});

function planApi({ kind, policyVersion, scope }: CerbosConfig): PolicyServer {
  const rule = `cerbos ${kind}`;
  return {
    request: ({ name, groups, roles, attributes, settings }, { action, table, columns }) => ({
      path: "/api/plan/resources",
      body: {
        requestId: "gateway",
        action,
        principal: {
          id: name,
          roles: [...new Set([everyone, ...roles])],
          attr: { groups, attributes, settings },
        },
        resource: {
          kind,
          ...(policyVersion !== undefined && { policyVersion }),
          ...(scope !== undefined && { scope }),
          attr: { table: askedTable(table), ...(columns !== undefined && { columns }) },
        },
      },
    }),
    decision: (json, { action }) => {
      const read = planSchema.safeParse(json);
      if (!read.success) return undefined;
      const { filter } = read.data;
      if (read.data.action !== action || read.data.resourceKind !== kind) return undefined;
      switch (filter.kind) {
        case "KIND_ALWAYS_ALLOWED":
          return { kind: "allow", rule, view: undefined };
        case "KIND_ALWAYS_DENIED":
          return { kind: "deny", rule };
        case "KIND_CONDITIONAL":
          return conditional(rule, filter.condition);
        default:
          return undefined;
      }
    },
  };
}

function conditional(rule: string, operand: unknown): Decided {
  const condition = conditionOf(operand, 0);
  if (typeof condition === "string") return { kind: "deny", rule, reason: condition };
  const rows = conditionText(condition);
  if (rows !== undefined) return { kind: "allow", rule, view: { rows, columns: undefined } };
  return { kind: "deny", rule, reason: "a condition that can not be written as SQL" };
}

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const valueOperand = z.strictObject({ value: z.unknown() });
const variableOperand = z.strictObject({ variable: z.string() });
const expressionOperand = z.strictObject({
  expression: z.strictObject({ operator: z.string(), operands: z.array(z.unknown()) }),
});

/** Far above any policy; the writer of SQL has its own limit. */
const depthMax = 50;

const comparisons: Readonly<Record<string, Comparison>> = {
  eq: "=",
  ne: "<>",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
};
const texts: Readonly<Record<string, "startsWith" | "endsWith" | "contains">> = {
  startsWith: "startsWith",
  endsWith: "endsWith",
  contains: "contains",
};

/** The condition, or what of it is not known, as a noun. */
function conditionOf(operand: unknown, depth: number): Condition | string {
  if (depth > depthMax) return "a condition that is too deep";
  const read = expressionOperand.safeParse(operand);
  if (!read.success) return truthOf(operand);
  const { operator, operands } = read.data.expression;
  switch (operator) {
    case "and":
    case "or":
      return joined(operator, operands, depth);
    case "not": {
      const inner = operands.length === 1 ? conditionOf(operands[0], depth + 1) : "NOT of several";
      return typeof inner === "string" ? inner : { kind: "not", of: inner };
    }
    default:
      return operands.length === 2
        ? relation(operator, operands[0], operands[1])
        : `the operator ${shown(operator)}`;
  }
}

/** A value or a column alone. */
function truthOf(operand: unknown): Condition | string {
  const read = operandOf(operand);
  if (read === undefined) return "a condition that is not understood";
  if ("column" in read) return { kind: "compare", by: "=", left: read, right: { value: true } };
  if (typeof read.value !== "boolean") return "a value in place of a condition";
  return { kind: read.value ? "all" : "any", of: [] };
}

function joined(
  operator: "and" | "or",
  operands: readonly unknown[],
  depth: number,
): Condition | string {
  if (operands.length === 0) return "an operator without conditions";
  const of: Condition[] = [];
  for (const operand of operands) {
    const condition = conditionOf(operand, depth + 1);
    if (typeof condition === "string") return condition;
    of.push(condition);
  }
  return { kind: operator === "and" ? "all" : "any", of };
}

function relation(operator: string, one: unknown, other: unknown): Condition | string {
  const left = operandOf(one);
  if (Object.hasOwn(comparisons, operator)) {
    const right = operandOf(other);
    const by = comparisons[operator] ?? "=";
    if (left === undefined || right === undefined) return "an operand that is no column or value";
    if (!("column" in left) && !("column" in right)) return "a comparison without a column";
    return { kind: "compare", by, left, right };
  }
  const how = Object.hasOwn(texts, operator) ? texts[operator] : undefined;
  if (operator !== "in" && how === undefined) return `the operator ${shown(operator)}`;
  if (left === undefined || !("column" in left)) return "an operand that is no column";
  const { column } = left;
  const wanted = valueOperand.safeParse(other);
  if (how !== undefined) {
    const text = wanted.success ? wanted.data.value : undefined;
    return typeof text === "string" ? { kind: "text", column, how, text } : "a text that is none";
  }
  const values = z.array(value).safeParse(wanted.data?.value);
  return values.success ? { kind: "in", column, values: values.data } : "a list that is none";
}

const row = "request.resource.attr.row.";

function operandOf(operand: unknown): ConditionOperand | undefined {
  const variable = variableOperand.safeParse(operand);
  if (variable.success) {
    const { variable: name } = variable.data;
    const column = name.startsWith(row) ? columnIn(name.slice(row.length)) : undefined;
    return column === undefined ? undefined : { column };
  }
  const read = valueOperand.safeParse(operand);
  if (!read.success) return undefined;
  const single = value.safeParse(read.data.value);
  return single.success ? { value: single.data } : undefined;
}

function shown(operator: string): string {
  return /^\w{1,40}$/.test(operator) ? operator : "in it";
}
