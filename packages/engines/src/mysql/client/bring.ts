/** Brings a connection where its next statement's session stands. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { isResultsName } from "@gateway/wire/mysql/charset/characterSet.ts";
import { isNarrow } from "@gateway/wire/mysql/charset/narrow.ts";
import { ask } from "../../starRocks/client/control.ts";
import { readsPlainly } from "../../starRocks/client/connect.ts";
import type { Member } from "../../starRocks/client/member.ts";
import { modeVariable } from "../../starRocks/client/session.ts";
import { bring as bringForward } from "../../starRocks/lane.ts";
import { halves, standingOf, type Standing } from "../../starRocks/page/halves.ts";
import { quoteIdentifier } from "../../starRocks/sql/quote.ts";
import type { Called, RunContext } from "../admission.ts";
import { nextSql } from "../sql/begin.ts";
import type { Seat } from "./seat.ts";

type Brought = Pick<Called, "session" | "takes" | "mysql" | "engineSql">;

/**
 * Brings the connection where the session stands, answering as its client reads it. The error where it can not get
 * there; no promise where it stands there.
 */
export function bring(
  seat: Seat,
  query: Brought,
  context: Pick<RunContext, "database">,
  signal: AbortSignal,
): Promise<GatewayError | undefined> | undefined {
  const { session } = query;
  const { member } = seat;
  const results = resultsOf(query);
  if (!seat.stands(session, context.database))
    return brought(seat, session, context, signal).then(
      (refused) => refused ?? answering(member, results, signal),
    );
  return member.results === results ? undefined : answering(member, results, signal);
}

/** True where the connection stands there already, so that nothing has to be asked of its server. */
export function standsThere(
  seat: Seat,
  query: Brought,
  { database }: Pick<RunContext, "database">,
): boolean {
  return seat.member.results === resultsOf(query) && seat.stands(query.session, database);
}

/** Only what goes on as packets: what is read here is read as utf8mb4. */
function resultsOf(query: Omit<Brought, "session">): Standing | undefined {
  const { results } = query.mysql;
  if (results === undefined) return undefined;
  if (!query.takes.includes("mysqlRows") || !isResultsName(results)) return undefined;
  return standingOf(results, query.engineSql, query.mysql.execution);
}

/** Has definitions, rows and errors written in the set. */
async function answering(
  member: Member,
  results: Standing | undefined,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  if (member.results === results) return undefined;
  const set = results === halves ? "utf8mb3" : (results ?? "utf8mb4");
  const reading = readingIn(member, results);
  const done = await ask(member, `SET character_set_results = ${set}${reading}`, signal);
  // A server that does not know the set goes on in utf8mb4, of which its client reads all but a few characters.
  const reads = isNarrow(set) && member.results !== halves && member.open;
  if (!done.ok && !reads) return done.error;
  // Where it did not take it, a text is sent in utf8mb4.
  member.results = !done.ok && results === halves ? "utf8mb3" : results;
  return undefined;
}

function readingIn(member: Member, results: Standing | undefined): string {
  if (results === halves) return ", character_set_client = utf8mb3";
  return member.results === halves ? ", character_set_client = utf8mb4" : "";
}

async function brought(
  seat: Seat,
  session: Session,
  context: Pick<RunContext, "database">,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  // Values of variables are told in utf8mb4.
  if (seat.member.results === halves) {
    const refused = await answering(seat.member, undefined, signal);
    if (refused !== undefined) return refused;
  }
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
