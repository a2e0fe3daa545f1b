/** Brings a connection where its next statement's session stands. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { ask } from "../../starRocks/client/control.ts";
import { readsPlainly } from "../../starRocks/client/connect.ts";
import { modeVariable, stands } from "../../starRocks/client/session.ts";
import { bring as bringForward } from "../../starRocks/lane.ts";
import { quoteIdentifier } from "../../starRocks/sql/quote.ts";
import type { Called, RunContext } from "../lane.ts";
import { nextSql } from "../sql/begin.ts";
import type { Seat } from "./seat.ts";

/** Brings the connection where the session stands. The error where it can not get there; no promise where it stands there. */
export function bring(
  seat: Seat,
  session: Session,
  context: Pick<RunContext, "database">,
  signal: AbortSignal,
): Promise<GatewayError | undefined> | undefined {
  return stands(seat.member, session, context.database)
    ? undefined
    : brought(seat, session, context, signal);
}

async function brought(
  seat: Seat,
  session: Session,
  context: Pick<RunContext, "database">,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  for (const name of seat.others(session)) {
    const refused = await unset(seat, name, signal);
    if (refused !== undefined) return refused;
    seat.member.variables.delete(name);
  }
  return await bringForward(seat.member, session, { ...context, modes: "either" }, signal);
}

/**
 * Says what the next transaction on the connection has for itself: the statement behind it begins that, or is it. The
 * error where the server does not take it; no promise where nothing was asked for.
 */
export function sayNext(
  { member }: Pick<Seat, "member">,
  { mysql: { next } }: Pick<Called, "mysql">,
  signal: AbortSignal,
): Promise<GatewayError | undefined> | undefined {
  if (next === undefined) return undefined;
  return ask(member, nextSql(next), signal).then((said) => (said.ok ? undefined : said.error));
}

/** Gives a variable back its value of the server, in the middle of a session or a transaction. */
async function unset(
  seat: Seat,
  name: string,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  const { member } = seat;
  const names = characteristics.find((both) => both.includes(name)) ?? [name];
  let refused: GatewayError | undefined;
  for (const one of names) {
    const done = await ask(member, `SET SESSION ${quoteIdentifier(one)} = DEFAULT`, signal);
    refused = done.ok ? undefined : done.error;
    if (done.ok) break;
  }
  const code =
    refused === undefined && name === modeVariable ? await readsPlainly(member, signal) : undefined;
  if (code === undefined) return refused;
  // Nobody knows how it reads texts.
  member.destroy();
  return gatewayError("engine.broken", { detail: code });
}

/** What MySQL, and MariaDB before 11.1, call each. */
const characteristics: readonly (readonly string[])[] = [
  ["transaction_isolation", "tx_isolation"],
  ["transaction_read_only", "tx_read_only"],
];
