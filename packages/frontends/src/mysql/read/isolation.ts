/** The variables of a transaction's isolation and access, which servers of MySQL's family call by two names each. */
import { openSql, tokenText } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { forwardedDialect } from "./forward.ts";
import type { ReadStatement } from "./reading.ts";

/** Each by the name that MySQL has, and by the one that MariaDB had alone before 11.1. */
const isolationName =
  /^(@@(?:session\.|local\.|global\.)?)(transaction|tx)_(isolation|read_only)$/i;
const namesIsolation = /@@[a-z.]*t(?:ransaction|x)_(?:isolation|read_only)/i;

/** The other form of a client's own statement, with the lexis of the standard. Most name no isolation. */
export function otherwiseOf(read: Pick<ReadStatement, "source" | "forwarded">): string | undefined {
  // The pattern takes twenty milliseconds of a text of 16 MiB, and this look one.
  if (!read.source.includes("@@") || !namesIsolation.test(read.source)) return undefined;
  const { forwarded } = read;
  return forwarded.ok ? withOtherIsolation(forwarded.value) : undefined;
}

/**
 * The same question with the isolation by its other name, for an engine that does not know the one it is asked by;
 * undefined where it is not asked for. `sql` is as engines get it. Columns keep their names.
 */
export function withOtherIsolation(sql: string): string | undefined {
  if (!namesIsolation.test(sql)) return undefined;
  const cursor = openSql(sql, forwardedDialect);
  let text = "";
  let from = 0;
  let begin: number | undefined;
  let unnamed: string | undefined;
  while (nextSignificant(cursor)) {
    const token = tokenText(cursor);
    if (unnamed !== undefined && /^(?:,|from|limit)$/i.test(token)) text += ` AS "${unnamed}"`;
    unnamed = undefined;
    if (token === "@@") begin = cursor.start;
    const [name, scope = "", word = "", what = ""] =
      isolationName.exec(sql.slice(begin ?? cursor.end, cursor.end)) ?? [];
    if (name === undefined) continue;
    const other = word.toLowerCase() === "tx" ? "transaction" : "tx";
    text += `${sql.slice(from, begin)}${scope}${other}_${what.toLowerCase()}`;
    from = cursor.end;
    begin = undefined;
    unnamed = name;
  }
  return unnamed === undefined ? text + sql.slice(from) : `${text} AS "${unnamed}"`;
}
