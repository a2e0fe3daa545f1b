/** What runs beside the open cursors of a transaction, on its connection: everything that can not end it. */
import { readStatement } from "@gateway/core/sql/statement.ts";
import type { RunnableCommand } from "../machine.ts";

/** A longer text is not read for this alone. */
const textBytesMax = 65_536;

/** Kinds by which no server ends a transaction; whatever else a text may be is taken for an end. */
const within: ReadonlySet<string> = new Set(["select", "insert", "update", "delete"]);

/** True where the transaction is surely open behind the command. `kindOf` tells of a prepared statement; undefined: there is none. */
export function leavesTransaction(
  command: RunnableCommand,
  kindOf: (statementId: number) => string | undefined,
): boolean {
  switch (command.kind) {
    case "ping":
    case "prepare":
    case "sendLongData":
    case "closeStatement":
    case "resetStatement":
      return true;
    case "execute": {
      const kind = kindOf(command.statementId);
      return kind === undefined || within.has(kind);
    }
    case "query":
      return command.sql.length <= textBytesMax && isWithin(Buffer.from(command.sql).toString());
    default:
      return false;
  }
}

/** A text of several statements, or with comments that are code, may hold the end. */
function isWithin(text: string): boolean {
  if (text.includes(";") || text.includes("/*")) return false;
  return within.has(readStatement(text, "mysql").kind);
}
