/** Ending what a connection runs: `KILL QUERY` on another connection to the same server, as the account that runs it. */
import type { Host } from "@gateway/core/port/host.ts";
import { ask } from "../../starRocks/client/control.ts";
import { connected } from "../../starRocks/client/connect.ts";
import type { Seat } from "./seat.ts";

/** How long the login and the statement may take. */
const killingMs = 10_000;

/** True when the server was told. */
export async function killQuery(
  { member, server, account }: Seat,
  host: Pick<Host, "egress" | "clock">,
): Promise<boolean> {
  const limit = new AbortController();
  using _limit = host.clock.timer(killingMs, () => limit.abort());
  const { signal } = limit;
  const made = await connected({ server, account, database: undefined, signal }, host);
  if (!made.ok) return false;
  try {
    return (await ask(made.value, `KILL QUERY ${member.threadId}`, signal)).ok;
  } finally {
    made.value.destroy();
  }
}
