/** Ending what a connection runs in the server, and what the server's list says of it. */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { pause } from "@gateway/core/tool/pause.ts";
import { tagIn } from "@gateway/core/query/tag.ts";
import type { Result } from "@gateway/core/result.ts";
import type { Rows } from "./control.ts";

/** Between two looks at the server's list: twice as long each time, from the first to the last. */
const lookAgainMs = { first: 10, last: 500 } as const;

/** Asks the server something of the gateway's own, on another connection. */
export type Ask = (sql: string, signal: AbortSignal) => Promise<Result<Rows, GatewayError>>;

/** What runs now, of everybody whose statements the asking account may see. */
export const listSql = "SHOW FULL PROCESSLIST";

/** Whose statement is to end, and who asks the server for it. */
export interface Ending {
  /** The connection's until it is closed. */
  readonly threadId: number;
  readonly ask: Ask;
  readonly clock: Clock;
}

/**
 * `KILL QUERY`, then looks at the list until the statement is gone or nobody waits any more. False when
 * the server refused or could not be asked.
 */
export async function endStatement(
  { threadId, ask, clock }: Ending,
  signal: AbortSignal,
): Promise<boolean> {
  const killed = await ask(`KILL QUERY ${threadId}`, signal);
  if (!killed.ok) return false;
  for (
    let delayMs: number = lookAgainMs.first;
    !signal.aborted;
    delayMs = Math.min(delayMs * 2, lookAgainMs.last)
  ) {
    const list = await ask(listSql, signal);
    if (!list.ok || !runs(list.value, threadId)) break;
    await pause(clock, delayMs, signal);
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
  return row !== undefined && !row.some((cell) => cell === "Sleep") && !isIdleKilled(row);
}

/** MariaDB says `Killed` of an idle connection too, up to its next statement. A statement that ends still has its text. */
function isIdleKilled(row: Rows[number]): boolean {
  const [command, , , text] = row.slice(commandAt);
  return command === "Killed" && text === null;
}

/** Where MariaDB's list has the command; behind it come the time, the state and the text. */
const commandAt = 4;
