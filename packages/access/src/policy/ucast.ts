/** Universal conditions (UCAST), as OPA's compile API answers them, read into conditions over columns of `input.row`. */
import type { Comparison, Condition, ConditionOperand } from "@gateway/core/police/condition.ts";
import { z } from "zod";

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const compound = z.strictObject({
  type: z.literal("compound"),
  operator: z.string(),
  value: z.array(z.unknown()),
});
const field = z.strictObject({
  type: z.literal("field"),
  operator: z.string(),
  field: z.string(),
  value: z.unknown(),
});
const none = z.strictObject({});
const otherField = z.strictObject({ field: z.string() });

/** Far above any policy; the writer of SQL has its own limit. */
const depthMax = 50;

const comparisons: Readonly<Record<string, Comparison>> = {
  eq: "=",
  ne: "<>",
  lt: "<",
  lte: "<=",
  gt: ">",
  gte: ">=",
};
const texts: Readonly<Record<string, "startsWith" | "endsWith" | "contains">> = {
  startswith: "startsWith",
  endswith: "endsWith",
  contains: "contains",
};

/** The condition, or what of it is not known, as a noun. No conditions at all are always true. */
export function conditionOf(query: unknown, depth = 0): Condition | string {
  if (depth > depthMax) return "a condition that is too deep";
  if (depth === 0 && none.safeParse(query).success) return { kind: "all", of: [] };
  const read = compound.safeParse(query);
  if (read.success) return compoundOf(read.data, depth);
  const single = field.safeParse(query);
  return single.success ? fieldOf(single.data) : "a condition that is not understood";
}

function compoundOf(
  { operator, value: parts }: z.output<typeof compound>,
  depth: number,
): Condition | string {
  const of: Condition[] = [];
  for (const part of parts) {
    const condition = conditionOf(part, depth + 1);
    if (typeof condition === "string") return condition;
    of.push(condition);
  }
  // An empty list would be true or false by a convention that the answer does not state.
  if (of.length === 0) return "an operator without conditions";
  if (operator === "and") return { kind: "all", of };
  if (operator === "or") return { kind: "any", of };
  // OPA says with `not` that not all of them hold.
  if (operator === "not") return { kind: "not", of: { kind: "all", of } };
  return `the operator ${shown(operator)}`;
}

function fieldOf({
  operator,
  field: name,
  value: wanted,
}: z.output<typeof field>): Condition | string {
  const column = columnOf(name);
  if (column === undefined) return "a field outside input.row";
  if (Object.hasOwn(comparisons, operator)) {
    const right = operandOf(wanted);
    const by = comparisons[operator] ?? "=";
    return right === undefined
      ? "a value that is none"
      : { kind: "compare", by, left: { column }, right };
  }
  if (operator === "in" || operator === "nin") {
    const values = z.array(value).safeParse(wanted);
    if (!values.success) return "a list that is none";
    const listed: Condition = {
      kind: "in",
      column,
      values: values.data,
    };
    return operator === "in" ? listed : { kind: "not", of: listed };
  }
  const how = Object.hasOwn(texts, operator) ? texts[operator] : undefined;
  if (how === undefined) return `the operator ${shown(operator)}`;
  if (typeof wanted !== "string") return "a text that is none";
  return { kind: "text", column, how, text: wanted };
}

function operandOf(wanted: unknown): ConditionOperand | undefined {
  const other = otherField.safeParse(wanted);
  if (other.success) {
    const column = columnOf(other.data.field);
    return column === undefined ? undefined : { column };
  }
  const read = value.safeParse(wanted);
  return read.success ? { value: read.data } : undefined;
}

function columnOf(name: string): string | undefined {
  return name.startsWith("row.") ? columnIn(name.slice("row.".length)) : undefined;
}

/** One name and no way into it. */
export function columnIn(name: string): string | undefined {
  return /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(name) ? name : undefined;
}

function shown(operator: string): string {
  return /^\w{1,40}$/.test(operator) ? operator : "in it";
}
