/** Runs one statement on one connection in the extended protocol, and says in the port's events what came of it. */
import { gatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { waited, type Course, type Reading } from "@gateway/core/query/course.ts";
import type { DoneEvent, FailedEvent, QueryStats, ResultEvent } from "@gateway/core/query/event.ts";
import type { CopySource } from "@gateway/core/query/query.ts";
import type { Batch, NativeFormat, Vector } from "@gateway/core/type/vector.ts";
import type { FrameRun } from "@gateway/wire/postgres/frame.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import { columnOf, spansOf } from "../page/cells.ts";
import { signalledFields, SignalledRows, type Signalling } from "../page/signalled.ts";
import { formatOf, ruleOf, type ColumnRule } from "../types.ts";
import { batchBytes } from "@gateway/core/type/size.ts";
import { errorOf, textOf, unparsedError, type SentText } from "../errors.ts";
import { copyHead, copyIn } from "./copy.ts";
import { columnsOf, rulesOf } from "./descriptions.ts";
import { Conversation, type Head, type Outcome } from "./conversation.ts";
import type { Member } from "./member.ts";
import { isStale, namedReady, putNamed, type Named } from "./named.ts";
import { doneWhole } from "./whole.ts";

/** A statement with its values, as it is sent. */
export interface Call {
  /** What stands before the client's text. */
  readonly before: readonly string[];
  readonly sent: SentText;
  readonly types: readonly number[];
  /** By which its client knows the statement; undefined for one without a name. */
  readonly name: string | undefined;
  readonly formats: readonly Format[];
  readonly values: readonly (Uint8Array | undefined)[];
  /** Formats that the client asks for and gets as they are; undefined: rows are read, in the formats that suit. */
  readonly resultFormats: readonly Format[] | undefined;
  /** Of a COPY: where the client's data comes from. */
  readonly copy: CopySource | undefined;
  /** The statement as one that the connection keeps prepared. */
  readonly named: Named | undefined;
  /** What the connection may have prepared as it runs; undefined: whatever is there. */
  readonly finds: "own" | "none" | undefined;
  /** Its rows say which connections are to be signalled. */
  readonly signalling: Signalling | undefined;
  /** By the simple protocol, which has no values and answers text. */
  readonly simple: boolean;
  /** A result that is there at once may come with its end. */
  readonly whole: boolean;
  /** Upper case; undefined for a plain query, which is told by its rows. */
  readonly tag: string | undefined;
}

export interface Trace {
  /** The server still has something to say on the connection. */
  open: boolean;
}

interface Sent {
  readonly talk: Conversation;
  readonly head: Head;
}

/** Runs it. The caller ends what is still open in the server. */
export function* runCall(member: Member, call: Call, clock: Clock, trace: Trace): Course {
  const startedMs = clock.nowMs();
  if (mayComeWhole(call) && !trace.open) {
    trace.open = true;
    send(member, call);
    // Undefined where what comes first is not all of it: it is read as it comes.
    if (member.quiet) yield member.more();
    const whole = member.whole(call.simple);
    if (whole !== undefined) {
      trace.open = false;
      yield doneWhole(whole, clock.nowMs() - startedMs);
      return;
    }
  }
  yield* readCall(member, call, trace, () => clock.nowMs() - startedMs);
}

/** Its client takes a result with its end, and nothing else is answered before. */
export function mayComeWhole({ whole, named, resultFormats }: Call): boolean {
  return whole && named === undefined && resultFormats !== undefined;
}

/** What comes of it, event by event. */
function* readCall(member: Member, call: Call, trace: Trace, executionMs: () => number): Course {
  const counted = { rows: 0, bytes: 0 };
  const { talk, head } = yield* sent(member, call, trace);
  if (talk.noticed) yield* talk.notices();
  if (head.kind === "failed") {
    yield trace.open ? yield* ended(talk, trace, head) : head;
    return;
  }
  const fields = signalledFields(head.fields, call.signalling);
  const signalled = signalledIn(fields, call);
  const relays = call.resultFormats !== undefined;
  const rules = rulesOf(fields);
  if (head.hasRows) yield { kind: "columns", columns: columnsOf(fields, relays) };
  let { outcome } = head;
  let copying = false;
  while (goesOn(outcome)) {
    if (outcome?.kind === "copyIn") {
      outcome = yield* waited(copyIn(talk, call, outcome.body));
      continue;
    }
    if (outcome?.kind === "copyOut") {
      yield copyHead(outcome.body);
      [copying, outcome] = [true, undefined];
    }
    const next = yield* copying
      ? talk.copied()
      : talk.rows(head.hasRows ? fields.length : undefined);
    if (talk.noticed) yield* talk.notices();
    if (next.kind !== "rows") {
      outcome = next;
      continue;
    }
    const run = signalled === undefined ? next.run : yield* waited(signalled.read(next.run));
    const batch = batchIn(run, rules, formatFor(call, copying));
    if ("unfit" in batch) {
      yield unfit(batch.unfit);
      return;
    }
    counted.rows += batch.rows;
    counted.bytes += batchBytes(batch);
    yield { kind: "batch", batch };
  }
  const stats = { queueMs: 0, executionMs: executionMs(), ...counted };
  const last: ResultEvent =
    outcome.kind === "failed" ? outcome : doneEvent(call, outcome.tag, stats, relays);
  if (talk.noticed) yield* talk.notices();
  if (signalled?.warning) yield signalled.warning;
  yield yield* ended(talk, trace, last);
}

/** Something follows that is none of a statement's ends. */
function goesOn(
  outcome: Outcome | undefined,
): outcome is Extract<Outcome, { kind: "copyIn" | "copyOut" }> | undefined {
  return outcome === undefined || outcome.kind === "copyOut" || outcome.kind === "copyIn";
}

/** Sends it and reads what it is. What the server would have prepared anew is sent once more, where nothing ran yet. */
function* sent(member: Member, call: Call, trace: Trace): Reading<Sent> {
  const { named, resultFormats } = call;
  const { sql, prefix, edited } = call.sent;
  const copies = call.copy !== undefined;
  const talkOf = (before: number, server: string): Conversation => {
    const names = { server, client: call.name ?? "" };
    return new Conversation(
      member,
      (report) => errorOf(report, { sql, edited, prefix: before, names }),
      copies,
    );
  };
  const talk = talkOf(named?.prefix ?? prefix, named?.name ?? "");
  const isSent = trace.open;
  trace.open = true;
  const head = yield* resultFormats === undefined ? typed(talk, call) : plain(talk, call, isSent);
  if (head.kind !== "failed" || named === undefined || !isStale(head.error)) return { talk, head };
  member.prepared.forget(named.key);
  const broken = yield* talk.ready();
  trace.open = false;
  // In a transaction its client hears of it, as of a statement that it prepared itself.
  if (broken !== undefined || !named.known || member.status !== "I")
    return { talk, head: broken ?? head };
  trace.open = true;
  const again = talkOf(prefix, "");
  return { talk: again, head: yield* plain(again, { ...call, named: undefined }) };
}

/** Everything in one message: the client said which formats it wants. */
export function send(member: Member, call: Call): void {
  if (call.simple) member.put({ kind: "query", sql: textOf(call.sent), before: call.before });
  else {
    if (call.named === undefined) put(member, call);
    else putNamed(member, call.named, call.types);
    member.put(bindOf(call, call.resultFormats ?? []));
    member.put({ kind: "describe", target: "portal", name: "" });
    member.put({ kind: "execute", portal: "", maxRows: 0 });
    member.put({ kind: "sync" });
  }
  member.flush();
}

/** Reads what it is. */
function* plain(talk: Conversation, call: Call, isSent: boolean = false): Reading<Head> {
  if (!isSent) send(talk.member, call);
  if (call.simple) return yield* talk.answered();
  const { named } = call;
  const prepared = named === undefined ? talk.expect("parseComplete") : namedReady(talk, named);
  const unparsed = yield* prepared;
  if (unparsed !== undefined) return { kind: "failed", error: unparsedError(unparsed.error) };
  return (yield* talk.expect("bindComplete")) ?? (yield* talk.described());
}

/** First what its columns are, then its rows in the formats that suit them. */
function* typed(talk: Conversation, call: Call): Reading<Head> {
  const { member } = talk;
  put(member, call);
  member.put({ kind: "describe", target: "statement", name: "" });
  member.put({ kind: "flush" });
  member.flush();
  const failed =
    (yield* talk.expect("parseComplete")) ?? (yield* talk.expect("parameterDescription"));
  const described = failed ?? (yield* talk.described());
  if (described.kind === "failed") {
    member.put({ kind: "sync" });
    member.flush();
    return described;
  }
  const resultFormats = described.fields.map(({ type, modifier }) =>
    formatOf(ruleOf(type, modifier)),
  );
  member.put(bindOf(call, resultFormats));
  member.put({ kind: "execute", portal: "", maxRows: 0 });
  member.put({ kind: "sync" });
  member.flush();
  return (yield* talk.expect("bindComplete")) ?? described;
}

function bindOf({ formats, values, named }: Call, resultFormats: readonly Format[]) {
  const statement = named?.name ?? "";
  return { kind: "bind", portal: "", statement, formats, values, resultFormats } as const;
}

function put(member: Member, call: Call): void {
  const { types, before } = call;
  member.put({ kind: "parse", statement: "", sql: textOf(call.sent), types, before });
}

/** Waits until the server is ready again, which it says behind every outcome. */
function* ended(talk: Conversation, trace: Trace, last: ResultEvent): Reading<ResultEvent> {
  const broken = yield* talk.ready();
  trace.open = false;
  return last.kind === "failed" ? last : (broken ?? last);
}

function unfit(message: string): FailedEvent {
  return { kind: "failed", error: gatewayError("query.data", { message }) };
}

function signalledIn(
  fields: Parameters<typeof rulesOf>[0],
  { signalling }: Call,
): SignalledRows | undefined {
  return signalling && new SignalledRows(fields, signalling);
}

function batchIn(
  run: FrameRun,
  rules: readonly ColumnRule[],
  native: NativeFormat | undefined,
): Batch | { readonly unfit: string } {
  return native === undefined ? readBatch(run, rules) : nativeBatch(run, native);
}

function nativeBatch({ bytes, count }: FrameRun, format: NativeFormat): Batch {
  return { form: "native", format, rows: count, bytes };
}

/** The form in which a client gets what came as it is; undefined where it is read. */
function formatFor({ resultFormats }: Call, copying: boolean): NativeFormat | undefined {
  if (resultFormats === undefined) return undefined;
  return copying ? "postgresCopy" : "postgresRows";
}

function readBatch(
  { bytes, count }: FrameRun,
  rules: readonly ColumnRule[],
): Batch | { readonly unfit: string } {
  const spans = spansOf(bytes, count, rules.length);
  const columns: Vector[] = [];
  for (const [index, rule] of rules.entries()) {
    const column = columnOf(spans, index, rule);
    if ("unfit" in column) return column;
    columns.push(column);
  }
  return { form: "columnar", rows: count, columns };
}

function doneEvent({ tag }: Call, said: string, stats: QueryStats, native: boolean): DoneEvent {
  const commandTag = native ? said : undefined;
  // Written out: what is spread has a shape of its own each time.
  if (tag === undefined) return { kind: "done", stats, commandTag };
  const count = /(?:^| )(\d+)$/.exec(said)?.[1];
  const updateCount = count === undefined ? undefined : Number(count);
  // The server answers what fills a table as a query, by the number of rows.
  const fills = said.startsWith("SELECT ") && tag.startsWith("CREATE ");
  return { kind: "done", stats, updateType: fills ? `${tag} AS` : tag, updateCount, commandTag };
}
