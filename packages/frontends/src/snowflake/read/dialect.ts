/**
 * In which words a client's text is read. Drivers pass on what a person or a tool wrote for the engine behind, so it is
 * read as that engine reads it; where several could be meant, with the care of `generic`.
 */
import type { Door } from "@gateway/core/port/door.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { allRead, type ReachedEngine } from "@gateway/core/query/reached.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";

/** The dialect of the engines where the text would go. Asking takes no slot. */
export async function dialectOf(
  sql: string,
  session: Session,
  door: Pick<Door, "engines" | "target" | "query">,
  signal: AbortSignal,
): Promise<Dialect> {
  const dialects = dialectsOf(door.engines(session));
  if (dialects.length <= 1) return dialects[0] ?? "generic";
  for (const dialect of dialects) {
    const query = door.query(readStatement(sql, dialect), [], { ...session, dialect });
    const target = await door.target(query, signal);
    if (target.ok && allRead(dialect, target.value)) return dialect;
  }
  return "generic";
}

/** Each once, in a fixed order, so that the same text is always read alike. */
function dialectsOf(reached: readonly ReachedEngine[]): readonly Dialect[] {
  return [...new Set(reached.map(({ dialect }) => dialect ?? "generic"))].toSorted();
}
