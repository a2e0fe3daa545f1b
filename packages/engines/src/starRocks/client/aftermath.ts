/**
 * What the server still has to say once a statement is done, asked on its own connection: its warnings, the id
 * that it made, the rows that a limit left out. Nothing of it stays there for the next session.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { DoneEvent, ResultEvent, ServerReport } from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import { ask } from "./control.ts";
import type { Member } from "./member.ts";
import { lastIdVariable, setStatement } from "./session.ts";

// An explicit limit goes over a `sql_select_limit` that the session may have set on the connection.
const namesLastId = /\blast_insert_id\b|@@(?:session\s*\.\s*)?identity\b/i;
const countsAll = /\bsql_calc_found_rows\b/i;

/** Gives the connection the session's last id where the text may read it; it has none of its own. */
export function bringLastId(
  member: Member,
  session: Session,
  sql: string,
  signal: AbortSignal,
): Promise<GatewayError | undefined> | undefined {
  const id = session.settings.get(lastIdVariable);
  return id === undefined || !needsLastId(session, sql) ? undefined : lastIdTo(member, id, signal);
}

/** True where the text may read a last id that the session has. */
export function needsLastId({ settings }: Pick<Session, "settings">, sql: string): boolean {
  return settings.has(lastIdVariable) && namesLastId.test(sql);
}

async function lastIdTo(
  member: Member,
  id: string,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  // Whoever ends in between must leave none behind.
  member.tainted = true;
  const done = await ask(member, setStatement(lastIdVariable, id), signal);
  return done.ok ? undefined : done.error;
}

/** A statement that is done. */
export interface Finished {
  readonly sql: string;
  readonly done: DoneEvent;
  /** As the server counted them. */
  readonly warnings: number;
  readonly session: Pick<Session, "frontend">;
}

/** What to tell, ending with `done`. A question that fails is left out: the statement is done whatever comes. */
export async function aftermath(
  member: Member,
  { sql, done, warnings, session }: Finished,
  signal: AbortSignal,
): Promise<readonly ResultEvent[]> {
  const events: ResultEvent[] = [];
  if (warnings > 0) events.push(...(await noticesOf(member, signal)));
  const foundRows = countsAll.test(sql) ? await foundRowsOf(member, signal) : undefined;
  const id = madeId(done) || namesLastId.test(sql) ? await takeLastId(member, signal) : undefined;
  if (id !== undefined && session.frontend === "mysqlWire") {
    const change = { kind: "setting", name: lastIdVariable, value: id } as const;
    events.push({ kind: "session", change });
  }
  if (foundRows === undefined) return [...events, done];
  return [...events, { ...done, report: { ...(done.report ?? noReport), foundRows } }];
}

/** True where the server is to be asked at all. */
export function leavesMore(
  sql: string,
  done: DoneEvent,
  { warnings }: Pick<Finished, "warnings">,
): boolean {
  return warnings > 0 || madeId(done) || asksMore(sql);
}

/** True where the text has something asked behind it whatever its answer is. */
export const asksMore: (sql: string) => boolean = remembered(
  (sql) => namesLastId.test(sql) || countsAll.test(sql),
  {
    textsMax: 1_000,
    lengthMax: 2_000,
  },
);

function madeId({ report }: DoneEvent): boolean {
  return report !== undefined && report.insertId !== 0n;
}

const noReport: ServerReport = {
  changedCount: 0,
  insertId: 0n,
  warnings: 0,
  info: "",
  foundRows: undefined,
};

async function noticesOf(member: Member, signal: AbortSignal): Promise<readonly ResultEvent[]> {
  const listed = await ask(member, "SHOW WARNINGS LIMIT 65535", signal);
  if (!listed.ok) return [];
  return listed.value.map(([level, number, message]) => ({
    kind: "notice",
    code: `${String(level)} ${String(number)}`,
    text: String(message),
  }));
}

async function foundRowsOf(member: Member, signal: AbortSignal): Promise<number | undefined> {
  const asked = await ask(member, "SELECT FOUND_ROWS() LIMIT 1", signal);
  return asked.ok ? Number(asked.value[0]?.[0]) : undefined;
}

/** The connection's last id, which it then has no longer. Undefined for none. */
async function takeLastId(member: Member, signal: AbortSignal): Promise<string | undefined> {
  const asked = await ask(member, "SELECT LAST_INSERT_ID(), LAST_INSERT_ID(0) LIMIT 1", signal);
  // What the connection has now is not known.
  if (!asked.ok) member.tainted = true;
  const id = asked.ok ? String(asked.value[0]?.[0]) : "0";
  return id === "0" ? undefined : id;
}
