/** Whether a statement reads a guarded table without the condition that its guard asks for. */
import { wildcard } from "../regex/wildcard.ts";
import { asciiLower } from "../sql/lex/cursor.ts";
import type { TableRead } from "../sql/shape/frame.ts";
import type { StatementKind } from "../sql/classify/statementKind.ts";

/** Kinds that read rows of tables. */
export const rowKinds: ReadonlySet<StatementKind> = new Set<StatementKind>([
  "select",
  "insert",
  "update",
  "delete",
  "merge",
  "ddl",
  "copy",
  "explain",
  "declare",
  "prepare",
  "unknown",
]);

export interface PredicateRule {
  readonly tables: readonly string[];
  readonly columns?: readonly string[] | undefined;
}

/** Says of a table read whether the rule forbids it. */
export function predicateRule({ tables, columns }: PredicateRule): (read: TableRead) => boolean {
  const patterns = tables.map((name) => name.split(".").map((part) => wildcard(asciiLower(part))));
  const wanted = columns?.map(asciiLower);
  return (read) => {
    if (!patterns.some((parts) => isMeant(parts, read.path))) return false;
    if (wanted === undefined) return read.columns.size === 0;
    return !wanted.some(
      (column) => read.columns.has(column) || read.columns.has(`${read.alias}.${column}`),
    );
  };
}

type Part = (name: string) => boolean;

/** The last parts of both agree, as many as the shorter one has. */
function isMeant(parts: readonly Part[], path: readonly string[]): boolean {
  const count = Math.min(parts.length, path.length);
  const from = parts.length - count;
  return path.slice(path.length - count).every((name, at) => parts[from + at]?.(name) === true);
}
