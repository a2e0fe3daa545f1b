/** What a statement is to a guard: whether it only reads, and which kinds it counts as. Words only, no functions. */
import type { GuardedKind } from "@gateway/contract/config/guardrail.ts";
import type { StatementKind } from "../sql/classify/statementKind.ts";
import type { Statement } from "../sql/statement.ts";

type Judged = Pick<Statement, "kind" | "tag" | "writes" | "doubt">;

/** The kinds that read. Everything else, and what is not known, is taken to write. */
const readingKinds: ReadonlySet<StatementKind> = new Set<StatementKind>([
  "select",
  "show",
  "explain",
  "describe",
]);

/** Kinds that move a session and change nothing for others: no guard judges them. */
const sessionKinds: ReadonlySet<StatementKind> = new Set<StatementKind>([
  "begin",
  "commit",
  "rollback",
  "savepoint",
  "empty",
]);

/** False where anything in the text leaves a doubt. */
export function onlyReads({ kind, writes, doubt }: Judged): boolean {
  return readingKinds.has(kind) && !writes && doubt === undefined;
}

/** Whether it begins, divides or ends a transaction and does nothing else. */
export function isOfSession({ kind, doubt }: Judged): boolean {
  return sessionKinds.has(kind) && doubt === undefined;
}

/** What is counted as a kind of its own, and what else it is. Absent: no guard lets it pass that asks for kinds. */
const countedAs: Readonly<Partial<Record<StatementKind, GuardedKind>>> = {
  select: "select",
  show: "show",
  describe: "describe",
  explain: "explain",
  insert: "insert",
  update: "update",
  delete: "delete",
  merge: "merge",
  ddl: "ddl",
  copy: "copy",
  call: "call",
  execute: "execute",
  prepare: "execute",
  deallocate: "execute",
  declare: "select",
  fetch: "select",
  close: "select",
  set: "set",
  reset: "set",
  use: "set",
  discard: "set",
  kill: "kill",
};

const writes: readonly GuardedKind[] = ["insert", "update", "delete", "merge"];

/** All kinds that a statement needs; undefined where that is not known for certain. */
export function kindsOf(statement: Judged): readonly GuardedKind[] | undefined {
  const kind = countedAs[statement.kind];
  if (kind === undefined || statement.doubt !== undefined) return undefined;
  const mayHide = kind === "select" || kind === "explain" || kind === "describe";
  if (!mayHide || !statement.writes) return [kind];
  // Words do not tell which of its parts writes, or what an EXPLAIN ANALYZE runs.
  if (kind === "select" && statement.tag !== "SELECT INTO") return [kind, ...writes];
  return [kind, ...writes, "ddl"];
}
