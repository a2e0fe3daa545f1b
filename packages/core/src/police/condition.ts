/**
 * Conditions of a policy server as SQL. They come as data, so whatever is written is ours: names of columns that need
 * no quotes, strings without doubt, and comparisons that every engine reads alike. What has no such form is not
 * written, and its table is denied.
 *
 * SQL has a third truth value where policy languages have none: a comparison with NULL is neither, and NOT does not
 * make it true. So NULL only ever hides a row that the policy's own reading shows. What two values are to each other
 * is the engine's word: its texts may ignore case.
 */
import { isPlainName } from "./rewrite.ts";
import { textLiteral } from "./values.ts";

export type ConditionValue = string | number | boolean | null;

export type ConditionOperand = { readonly column: string } | { readonly value: ConditionValue };

export type Comparison = "=" | "<>" | "<" | "<=" | ">" | ">=";

export type Condition =
  /** Of none: `all` is true, `any` is false. */
  | { readonly kind: "all" | "any"; readonly of: readonly Condition[] }
  | { readonly kind: "not"; readonly of: Condition }
  | {
      readonly kind: "compare";
      readonly by: Comparison;
      readonly left: ConditionOperand;
      readonly right: ConditionOperand;
    }
  | { readonly kind: "in"; readonly column: string; readonly values: readonly ConditionValue[] }
  | {
      readonly kind: "text";
      readonly column: string;
      readonly how: "startsWith" | "endsWith" | "contains";
      readonly text: string;
    };

/** Deeper ones are refused: the statement around them may be 32 levels deep and no more. */
const depthMax = 12;
const lengthMax = 10_000;

/** As an expression that stands in brackets; undefined where it can not be written without doubt. */
export function conditionText(condition: Condition): string | undefined {
  const text = written(condition, 0);
  return text === undefined || text.length > lengthMax ? undefined : text;
}

/** A value as SQL: a string, a number, `TRUE`, `FALSE` or `NULL`. */
export function valueLiteral(value: ConditionValue): string | undefined {
  if (value === null) return "NULL";
  if (typeof value === "string") return textLiteral(value);
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  // A whole number beyond these has lost digits on its way here, and one with an exponent is no decimal.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return undefined;
  const text = String(value);
  return /^-?\d+(\.\d+)?$/.test(text) ? text : undefined;
}

function written(condition: Condition, depth: number): string | undefined {
  if (depth > depthMax) return undefined;
  switch (condition.kind) {
    case "all":
    case "any":
      return joined(condition, depth);
    case "not": {
      const inner = written(condition.of, depth + 1);
      return inner === undefined ? undefined : `NOT (${inner})`;
    }
    case "compare":
      return compared(condition);
    case "in":
      return listed(condition);
    case "text":
      return likened(condition);
  }
}

function joined(
  { kind, of }: Extract<Condition, { kind: "all" | "any" }>,
  depth: number,
): string | undefined {
  if (of.length === 0) return kind === "all" ? "1 = 1" : "1 = 0";
  const texts: string[] = [];
  let length = 0;
  for (const one of of) {
    const text = written(one, depth + 1);
    length += text?.length ?? 0;
    if (text === undefined || length > lengthMax) return undefined;
    texts.push(isJoined(one) ? `(${text})` : text);
  }
  return texts.join(kind === "all" ? " AND " : " OR ");
}

function isJoined(condition: Condition): boolean {
  return (condition.kind === "all" || condition.kind === "any") && condition.of.length > 1;
}

function compared({
  by,
  left,
  right,
}: Extract<Condition, { kind: "compare" }>): string | undefined {
  const [one, other] = [operandText(left), operandText(right)];
  if (one === undefined || other === undefined) return undefined;
  const isNull = { left: isNullValue(left), right: isNullValue(right) };
  if (!isNull.left && !isNull.right) return `${one} ${by} ${other}`;
  if (isNull.left === isNull.right || (by !== "=" && by !== "<>")) return undefined;
  return `${isNull.left ? other : one} IS ${by === "=" ? "" : "NOT "}NULL`;
}

function isNullValue(operand: ConditionOperand): boolean {
  return "value" in operand && operand.value === null;
}

function operandText(operand: ConditionOperand): string | undefined {
  return "column" in operand ? columnText(operand.column) : valueLiteral(operand.value);
}

function columnText(name: string): string | undefined {
  return isPlainName(name) ? name : undefined;
}

/** A list with NULL in it would hide every row under NOT, which the policy does not mean. */
function listed({ column, values }: Extract<Condition, { kind: "in" }>): string | undefined {
  const name = columnText(column);
  if (name === undefined) return undefined;
  if (values.length === 0) return "1 = 0";
  const literals: string[] = [];
  for (const value of values) {
    const literal = value === null ? undefined : valueLiteral(value);
    if (literal === undefined) return undefined;
    literals.push(literal);
  }
  return `${name} IN (${literals.join(", ")})`;
}

/** LIKE, with a text that holds nothing that LIKE would take for a pattern: engines differ in how that is escaped. */
function likened({ column, how, text }: Extract<Condition, { kind: "text" }>): string | undefined {
  const name = columnText(column);
  const literal = textLiteral(text);
  if (name === undefined || literal === undefined || /[%_]/.test(text)) return undefined;
  const inner = literal.slice(1, -1);
  const pattern = { startsWith: `${inner}%`, endsWith: `%${inner}`, contains: `%${inner}%` }[how];
  return `${name} LIKE '${pattern}'`;
}
