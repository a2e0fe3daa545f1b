/**
 * What a session keeps prepared, on the connection of a statement that can tell: there under its client's own names,
 * with its own texts, and nothing else. Other statements run under names and texts of the gateway's, which say whose
 * they are in the server's list of what runs (`sql/preparedTag.ts`).
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { settled, type Reading } from "@gateway/core/query/course.ts";
import type { Identified, PreparedText } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { ask } from "./client/ask.ts";
import { Conversation } from "./client/conversation.ts";
import type { Member } from "./client/member.ts";
import type { Call } from "./client/run.ts";
import { errorOf } from "./errors.ts";
import { quoteIdentifier } from "./sql/quote.ts";

/** Those that came by a PREPARE are the session's own on a connection that stays with it. */
const presentSql =
  "SELECT name FROM pg_catalog.pg_prepared_statements WHERE NOT from_sql AND name <> ''";

/** Inside of whichever of the client's has the same name. */
const savepoint = "own_statements";

/** Makes the connection's list what a session's statement may find there. */
export async function broughtTo(
  finds: NonNullable<Call["finds"]>,
  member: Member,
  query: Identified,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  // The server refuses whatever comes.
  if (member.status === "E") return undefined;
  const { call, session } = query;
  const wanted = finds === "own" && call !== undefined ? (session.prepared?.() ?? []) : [];
  const found = await ask(member, presentSql, signal);
  if (!found.ok) return found.error;
  const { own } = member.prepared;
  const keys = new Map(wanted.map((one) => [one.name, keyOf(one)]));
  const present = found.value.rows.map(([name]) => name ?? "");
  const right = new Set(present.filter((name) => isSame(own.get(name), keys.get(name))));
  const wrong = present.filter((name) => !right.has(name));
  member.prepared.clear();
  own.clear();
  for (const name of right) own.set(name, keys.get(name) ?? "");
  const gone = await deallocated(member, wrong, signal);
  if (gone !== undefined) return gone;
  const missing = wanted.filter(({ name }) => !right.has(name));
  return await prepared(member, missing, signal);
}

function keyOf({ text, types }: PreparedText): string {
  return `${types.join(",")} ${text}`;
}

function isSame(there: string | undefined, wanted: string | undefined): boolean {
  return there !== undefined && there === wanted;
}

async function deallocated(
  member: Member,
  names: readonly string[],
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  if (names.length === 0) return undefined;
  const sql = names.map((name) => `DEALLOCATE ${quoteIdentifier(name)}`).join("; ");
  const done = await ask(member, sql, signal);
  return done.ok ? undefined : done.error;
}

/**
 * Prepares them in their order. One that the server would not prepare any more, as its table is gone, is left out; a
 * transaction goes on behind it.
 */
async function prepared(
  member: Member,
  texts: readonly PreparedText[],
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  const inside = member.status === "T";
  for (let left = texts; left.length > 0;) {
    const begun = inside ? await ask(member, `SAVEPOINT ${savepoint}`, signal) : undefined;
    if (begun?.ok === false) return begun.error;
    const count = await parsed(member, left, signal);
    if (!count.ok) return count.error;
    const undo = count.value < left.length ? `ROLLBACK TO SAVEPOINT ${savepoint}; ` : "";
    const release = `${undo}RELEASE SAVEPOINT ${savepoint}`;
    const over = inside ? await ask(member, release, signal) : undefined;
    if (over?.ok === false) return over.error;
    left = left.slice(count.value + 1);
  }
  return undefined;
}

/** How many of them the server prepared before it refused one. */
async function parsed(
  member: Member,
  texts: readonly PreparedText[],
  signal: AbortSignal,
): Promise<Result<number, GatewayError>> {
  if (signal.aborted) return err(gatewayError("query.cancelled"));
  const leave = (): void => member.destroy();
  signal.addEventListener("abort", leave, { once: true });
  try {
    for (const { name, text, types } of texts)
      member.put({ kind: "parse", statement: name, sql: text, types });
    member.put({ kind: "sync" });
    member.flush();
    const talk = new Conversation(member, (report) => errorOf(report, { sql: "", prefix: 0 }));
    const count = await settled(countOf(talk, texts));
    return count.ok || !signal.aborted ? count : err(gatewayError("query.cancelled"));
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

function* countOf(
  talk: Conversation,
  texts: readonly PreparedText[],
): Reading<Result<number, GatewayError>> {
  let count = 0;
  for (const one of texts) {
    const failed = yield* talk.expect("parseComplete");
    if (failed !== undefined) break;
    talk.member.prepared.own.set(one.name, keyOf(one));
    count += 1;
  }
  const broken = yield* talk.ready();
  return broken === undefined ? ok(count) : err(broken.error);
}
