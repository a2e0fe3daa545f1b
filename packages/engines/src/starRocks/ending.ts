/** Ending what a connection runs in the server, and what the server's list says of it. */
import type { GatewayError } from "@gateway/core/error.ts";
import { tagIn } from "@gateway/core/query/tag.ts";
import type { Result } from "@gateway/core/result.ts";
import type { Rows } from "./control.ts";
import type { Member } from "./member.ts";

/** How often the server's list is looked at until a statement is gone. */
const endingTries = 50;

/** Asks the server something of the gateway's own, on another connection. */
export type Ask = (sql: string, signal: AbortSignal) => Promise<Result<Rows, GatewayError>>;

/** What runs now, of everybody whose statements the asking account may see. */
export const listSql = "SHOW FULL PROCESSLIST";

/**
 * `KILL QUERY` for an id that is the connection's until it is closed, then looks at the list until its
 * statement is gone. False when the server refused or could not be asked.
 */
export async function endStatement(
  { threadId }: Pick<Member, "threadId">,
  ask: Ask,
  signal: AbortSignal,
): Promise<boolean> {
  const killed = await ask(`KILL QUERY ${threadId}`, signal);
  if (!killed.ok) return false;
  for (let tries = 0; tries < endingTries && !signal.aborted; tries += 1) {
    const list = await ask(listSql, signal);
    if (!list.ok || !runs(list.value, threadId)) break;
  }
  return true;
}

/** The tag of the statement that a row of the list shows. */
export function taggedWith(row: Rows[number]): string | undefined {
  return row.map((cell) => tagIn(String(cell))).find((tag) => tag !== undefined);
}

/** Columns of the list differ; a running statement's row holds its text, an idle connection's `Sleep`. */
function runs(list: Rows, threadId: number): boolean {
  const row = list.find((cells) => cells.some((cell) => String(cell) === String(threadId)));
  return row !== undefined && !row.some((cell) => cell === "Sleep");
}
