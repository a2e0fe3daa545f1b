/** A statement as it is sent on a connection, what may be left there behind it, and whether that is allowed. */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { commentParts } from "@gateway/core/query/tagText.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { Member } from "./client/member.ts";
import type { Named } from "./client/named.ts";
import type { Call } from "./client/run.ts";
import { circumstancesOf, judgeBy, withSignals, type Judged } from "./sql/guard.ts";
import type { Signalling } from "./page/signalled.ts";
import { preparedTag } from "./sql/preparedTag.ts";
import { boundText } from "./sql/quote.ts";
import type { Signals } from "./sql/signals.ts";
import { oidOf } from "./types.ts";

/** What of its surroundings a statement is sent by. */
export interface CallContext {
  readonly cluster: string;
  /** Whoever reads takes a result that comes with its end. */
  readonly whole?: boolean;
  /** Until when the connection is the statement's own: its end, that of its transaction, or that of its session. */
  readonly until: "statement" | "transaction" | "session";
  /** What a client of PostgreSQL leaves on a connection stays with its session. */
  readonly pins: "asked" | "always" | undefined;
  /** How many statements of clients a connection keeps prepared, and whether sessions share it; undefined: none. */
  readonly prepares: { readonly max: number; readonly shared: boolean } | undefined;
}

/** What the guard says of a statement on a connection that is its own for so long. */
export function judgedIn(
  { engineSql, call, backendIdentity }: Identified,
  { until, pins }: Pick<CallContext, "until" | "pins">,
): Result<Judged, GatewayError> {
  const pinned = until !== "statement";
  const keeps = pins !== undefined && call !== undefined && pinned;
  const shared = backendIdentity.mode === "serviceAccount";
  const kind = circumstancesOf(pinned, keeps, call?.copy !== undefined, shared);
  return judgeBy(call?.signal === undefined ? kind : kind | withSignals)(engineSql);
}

/** The text and values as they are sent, or why they are not. Marks what the statement may leave behind. */
export function callOf(
  member: Member,
  query: Identified,
  context: CallContext,
): Result<Call, GatewayError> {
  const judged = judgedIn(query, context);
  return judged.ok ? ok(callAs(judged.value, member, query, context)) : judged;
}

/** The same of a statement that was judged. */
export function callAs(
  judged: Judged,
  member: Member,
  query: Identified,
  context: CallContext,
): Call {
  const { engineSql, call } = query;
  const { leaves, lasting, stains, movesSequences, signals } = judged;
  if (leaves || lasting !== undefined) member.used = true;
  if (stains) member.tainted = true;
  if (movesSequences) member.sequences = { ...member.sequences, own: true };
  const finds = findsOf(member, judged, context);
  // Whatever code ran may have deallocated.
  if (judged.unsure) member.prepared.clear();
  const before = commentParts(query);
  const { parameters } = query;
  // One literal for both: objects of several shapes, made by spreading, cost a call of the runtime for each statement.
  return {
    before,
    sent: { sql: engineSql, prefix: lengthOf(before), edited: signals?.sent },
    tag: judged.query ? undefined : judged.tag,
    named: call && namedOf(member, query, judged, context),
    finds,
    types: call?.types ?? parameters.map(oidOf),
    name: call?.statement,
    formats: call?.formats ?? [],
    values: call?.values ?? parameters.map(boundText),
    resultFormats: call?.resultFormats,
    simple: call?.simple ?? false,
    whole: takesWhole(context, judged),
    signalling: signallingOf(signals, call, context),
    copy: call?.copy,
  };
}

/** What has to be looked at does not come with its end. */
function takesWhole({ whole }: CallContext, { signals }: Judged): boolean {
  return whole === true && signals === undefined;
}

function signallingOf(
  signals: Signals | undefined,
  call: Identified["call"],
  { cluster }: CallContext,
): Signalling | undefined {
  if (signals === undefined) return undefined;
  const { column, name } = signals;
  const signal = (process: number): boolean | Promise<boolean> =>
    call?.signal?.({ name, cluster, process }) ?? false;
  return { column, signal };
}

function lengthOf(parts: readonly string[]): number {
  let length = 0;
  for (const part of parts) length += part.length;
  return length;
}

/** A function may read the list as well: it finds nothing of another session's there. */
export function findsOf(
  { prepared }: Member,
  { lists, unsure }: Judged,
  { prepares }: CallContext,
): Call["finds"] {
  if (lists) return "own";
  return unsure && prepares?.shared === true && prepared.user !== undefined ? "none" : undefined;
}

/** Longer texts are not kept prepared. */
const namedLengthMax = 32_768;

/** The statement as one that the connection keeps prepared, where its client does and nothing it calls may change that. */
function namedOf(
  member: Member,
  query: Identified,
  { leaves, lasting, stains, signals }: Judged,
  { prepares }: CallContext,
): Named | undefined {
  const { call, engineSql: sql, session } = query;
  if (prepares === undefined || call?.statement === undefined || call.copy !== undefined)
    return undefined;
  if (leaves || lasting !== undefined || stains || sql.length > namedLengthMax) return undefined;
  if (signals !== undefined) return undefined;
  const tag = preparedTag(query, prepares.shared);
  if (tag === undefined) return undefined;
  const text = `${tag.prefix}${sql}`;
  const key = `${call.types.join(",")} ${text}`;
  return {
    text,
    prefix: tag.prefix.length,
    tag: tag.name,
    key,
    ...member.prepared.take(session.identity.user, key, prepares.max),
  };
}
