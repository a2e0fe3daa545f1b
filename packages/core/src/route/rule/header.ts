/** Routes by the exact value of an HTTP header. A query of another protocol has no headers. */
import { groupOrNone, type Condition, type Rule } from "./rule.ts";

export function headerRule(
  headerName: string,
  valueToGroup: Readonly<Record<string, string>>,
): Rule {
  const name = headerName.toLowerCase();
  const groups = new Map(Object.entries(valueToGroup));
  return ({ session }) => {
    const value = session.headers.get(name);
    return groupOrNone(value === undefined ? undefined : groups.get(value));
  };
}

export function headerCondition(headerName: string, values: readonly string[]): Condition {
  const name = headerName.toLowerCase();
  const accepted = new Set(values);
  return ({ session }) => {
    const value = session.headers.get(name);
    return value !== undefined && accepted.has(value);
  };
}
