/** The end of a statement whose client left or cancelled it: nothing of it may meet the connection's next one. */
import { nextOf, waited, type Course } from "@gateway/core/query/course.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { MysqlCall } from "@gateway/core/query/mysqlCall.ts";
import { ask } from "../../starRocks/client/control.ts";
import type { Trace } from "./run.ts";
import type { Seat } from "./seat.ts";

/** Between two fetches of a cursor: the server does nothing for it, and has nothing to say. */
export function isParked({ execution }: MysqlCall, { open }: Trace): boolean {
  return execution?.cursor !== undefined && !open;
}

/** The end of a fetch whose connection is lent: others run on it up to the next one. */
export function* waitingAt(seat: Seat, event: ResultEvent, lent: Disposable): Course {
  seat.busy = false;
  try {
    yield event;
  } finally {
    lent[Symbol.dispose]();
    // Nothing of the cursor may go in between, not even its end: the server may be reading a file.
    while (seat.busy) yield* waited(seat.rested());
    seat.busy = true;
  }
}

/** Asks the server to stop, and gives the connection up where it was not told. */
export async function cancelled(
  seat: Seat,
  cancel: (seat: Seat) => Promise<boolean>,
): Promise<void> {
  if (!(await cancel(seat))) seat.member.destroy();
}

/** Waits for the cancel's own end, and takes what it may still do to the connection. */
export async function settled(
  seat: Seat,
  ending: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await ending;
  if (!seat.member.open || !signal.aborted) return;
  // A server ends the next statement where the last one was over already.
  const limit = new AbortController();
  await ask(seat.member, "DO 0", limit.signal);
}

/** Reads what the server still has to say to a reader who left. */
export async function drained(
  { member }: Seat,
  events: Course,
  { trace, end }: { readonly trace: Trace; readonly end: () => Promise<void> },
): Promise<void> {
  const ended = end();
  while (trace.open && member.open) {
    const step = await nextOf(events);
    if (step.done === true) break;
  }
  await ended;
  if (trace.open) member.destroy();
  else if (member.open) await ask(member, "DO 0", new AbortController().signal);
}
