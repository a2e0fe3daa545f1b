/** The way of one statement: its text, its session, who answers it, and its answer. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Answer as Answered } from "@gateway/core/query/course.ts";
import type { ResultStream } from "@gateway/core/query/event.ts";
import type { Query, QueryId } from "@gateway/core/query/query.ts";
import { allRead } from "@gateway/core/query/reached.ts";
import { relayedWith } from "@gateway/core/query/stages.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import type { Canceller } from "@gateway/core/tool/canceller.ts";
import { eventsOf, eventsOfNothing } from "../commands/answer.ts";
import { killAnswer, killOf } from "../commands/killQuery.ts";
import { serverAnswer } from "../commands/serverQuestions.ts";
import { settingsIn } from "../commands/setSettings.ts";
import type { ClickhouseConfig } from "../config.ts";
import { formatOf } from "../encode.ts";
import { named } from "../errors.ts";
import type { Pending } from "../read/body.ts";
import type { Fields, SessionAsked } from "../read/fields.ts";
import { createsTemporary } from "../read/firstWords.ts";
import { insertForm } from "../read/insertForm.ts";
import { numberedParameters } from "../read/namedParameters.ts";
import { limitMsOf, readsOnly, strangeSetting } from "../session/settings.ts";
import { remember, type HeldSession, type Sessions } from "../session/sessions.ts";
import type { Answer } from "./answer.ts";
import { execute } from "./execution.ts";
import type { Running } from "./running.ts";
import { relayOf } from "./relay.ts";
import { sessionFor } from "./session.ts";
import { textOf, type Text } from "./text.ts";
import type { HttpRequest } from "../../listener/http/exchange.ts";

/** One request for a statement. */
export interface Asked {
  readonly request: HttpRequest;
  readonly fields: Fields;
  readonly login: Login;
  readonly address: string;
  /** Aborted when the client leaves. */
  readonly canceller: Canceller;
  answerOf(queryId: string): Answer;
}

export interface Served {
  readonly config: ClickhouseConfig;
  readonly door: Door;
  readonly host: Host;
  readonly pending: Pending;
  readonly running: Running;
  readonly sessions: Sessions;
}

type MayWait<Value> = Promise<Value> | Value;

/** Runs it and answers. Over when both the client and the engine are done with it. */
export function answerStatement(asked: Asked, served: Served): MayWait<void> {
  const { session } = asked.fields;
  return session === undefined
    ? answerIn(undefined, asked, served)
    : answerInSession(session, asked, served);
}

async function answerInSession(session: SessionAsked, asked: Asked, served: Served): Promise<void> {
  const taken = served.sessions.take(asked.login.identity.user, session);
  if (!taken.ok) return refuse(asked, taken.error);
  using lent = taken.value;
  return await answerIn(lent.held, asked, served);
}

/** Each step takes a promise only where somebody is waited for. */
function answerIn(held: HeldSession | undefined, asked: Asked, served: Served): MayWait<void> {
  const text = textOf(asked, served);
  if (text instanceof Promise) return text.then((read) => answerText(read, held, asked, served));
  return answerText(text, held, asked, served);
}

function answerText(
  text: Result<Text, GatewayError> | undefined,
  held: HeldSession | undefined,
  asked: Asked,
  served: Served,
): MayWait<void> {
  if (text === undefined) return undefined;
  if (!text.ok) return refuse(asked, text.error);
  const preparing: Preparing = { asked, served, text: text.value, held };
  const prepared = preparedFrom(preparing);
  if (prepared instanceof Promise) return prepared.then((ready) => answered(ready, preparing));
  return answered(prepared, preparing);
}

function answered(prepared: Preparation, { asked, served, text, held }: Preparing): MayWait<void> {
  if (!prepared.ok) return refuse(asked, prepared.error);
  const { canceller, login } = asked;
  const given = clientIdOf(asked);
  const id = given ?? prepared.value.query.id;
  const place = { id, isOurs: given === undefined };
  const added = served.running.add(login.identity.user, place, { sql: text.sql, canceller });
  if (!added.ok) return refuse(asked, added.error);
  return ran(prepared.value, { answer: asked.answerOf(id), canceller, held }, served, added.value);
}

async function ran(
  prepared: Prepared,
  executing: Executing,
  { door, host }: Served,
  running: Disposable,
): Promise<void> {
  const { answer, canceller } = executing;
  const { query, events, settings } = prepared;
  const limitMs = limitMsOf(settings);
  const limit =
    limitMs === undefined
      ? undefined
      : host.clock.timer(limitMs, () => canceller.abort(tooLong(limitMs)));
  try {
    const asking = events ?? eventsFrom(door, query, canceller.signal);
    const given = asking instanceof Promise ? await asking : asking;
    const due = executed(given, prepared, executing);
    if (due !== undefined) await due;
  } finally {
    // Not by `using`, which asks for what to call by a name that it makes: a microsecond of each query.
    answer.left();
    limit?.[Symbol.dispose]();
    running[Symbol.dispose]();
  }
}

function refuse(asked: Asked, error: GatewayError): void {
  asked.answerOf(clientIdOf(asked) ?? "").fail(error, false);
}

function clientIdOf(asked: Asked): string | undefined {
  return asked.fields.queryId ?? headerOf(asked, "x-clickhouse-query-id");
}

interface Executing {
  readonly answer: Answer;
  readonly canceller: Canceller;
  readonly held: HeldSession | undefined;
}

function executed(
  events: Answered,
  { format, settings }: Prepared,
  { answer, canceller, held }: Executing,
): Promise<void> | undefined {
  return execute({ answer, events, canceller, format, settings, session: held });
}

/** All of them where the answer came in one piece. */
function eventsFrom(door: Door, query: Query, signal: AbortSignal): Promise<Answered> | Answered {
  return door.answer?.(query, signal) ?? door.run(query, signal);
}

/** The client's own limit, and not one of the group. */
function tooLong(limitMs = 0): GatewayError {
  const message = `Timeout exceeded: maximum: ${limitMs / 1000} seconds`;
  return gatewayError("query.timeout", { message });
}

/** A statement that may run. */
interface Prepared {
  readonly query: Query;
  /** What answers it here; undefined where an engine does. */
  readonly events: ResultStream | undefined;
  readonly format: string;
  readonly settings: ReadonlyMap<string, string>;
}

interface Preparing {
  readonly asked: Asked;
  readonly served: Served;
  readonly text: Text;
  readonly held: HeldSession | undefined;
}

type Preparation = Result<Prepared, GatewayError>;

const noParameters: Query["parameters"] = [];
const takes: Query["takes"] = ["clickHouseBody"];

/** A promise only where somebody is asked. */
function preparedFrom(preparing: Preparing): Preparation | Promise<Preparation> {
  const { asked, served, text, held } = preparing;
  const { fields } = asked;
  const { door } = served;
  const { request, login, address } = asked;
  const settings =
    held === undefined ? fields.settings : new Map([...held.settings, ...fields.settings]);
  const session = sessionFor({ request, fields, login, address, door, held, settings });
  const statement = readStatement(text.sql, "clickhouse");
  const refusal = refusalOfKind(asked, settings, statement);
  if (refusal !== undefined) return err(refusal);
  const asksFor = text.format ?? fields.format ?? headerOf(asked, "x-clickhouse-format");
  const format = asksFor ?? "TabSeparated";
  const relay = relayOf(asked, text, format, settings);
  const query = relayedWith(door.query(statement, noParameters, session, takes), relay);
  const prepared = { query, events: undefined, format, settings };
  if (statement.kind === "kill" || statement.kind === "set") {
    return answeredHere(preparing, statement).then((here) => {
      return here.ok ? ok({ ...prepared, events: here.value }) : here;
    });
  }
  // Most gateways reach engines of one kind only, and need not ask where this one goes.
  if (allRead("clickhouse", door.engines(session))) return ok(prepared);
  return forAnyEngine(preparing, prepared);
}

/** The statements that no engine sees, whatever it is. */
async function answeredHere(
  { asked, served, text, held }: Preparing,
  statement: Query["statement"],
): Promise<Result<ResultStream, GatewayError>> {
  if (statement.kind === "kill") {
    const kill = killOf(text.sql);
    if (!kill.ok) return kill;
    const found = await killed(kill.value, asked, served);
    return ok(eventsOf(killAnswer(kill.value, asked.login.identity.user, found)));
  }
  const set = settingsIn(statement);
  if (!set.ok) return set;
  for (const [name, value] of set.value) {
    if (held === undefined || remember(held, name, value)) continue;
    return err(gatewayError("query.unsupported", { message: "too many settings in a session" }));
  }
  return ok(eventsOfNothing("SET"));
}

/** A statement that may go to an engine which knows nothing of ClickHouse. */
async function forAnyEngine(
  preparing: Preparing,
  prepared: Prepared,
): Promise<Result<Prepared, GatewayError>> {
  const { asked, served, text } = preparing;
  const { query } = prepared;
  const { user } = asked.login.identity;
  const needsServer = needOf(preparing, prepared);
  const local = serverAnswer(text.sql, { user, database: query.session.schema ?? "default" });
  const { parameters } = asked.fields;
  if (needsServer === undefined && local === undefined && parameters.length === 0) {
    return ok(prepared);
  }
  const engines = await served.door.target(query, asked.canceller.signal);
  if (!engines.ok) return engines;
  if (allRead("clickhouse", engines.value)) return ok(prepared);
  if (local !== undefined) return ok({ ...prepared, events: eventsOf(local) });
  if (needsServer !== undefined) return err(needsServer);
  const numbered = numberedParameters(text.sql, parameters);
  if (!numbered.ok) return numbered;
  const { sql } = numbered.value;
  const statement = readStatement(sql, "clickhouse");
  return ok({
    ...prepared,
    query: { ...query, sql, statement, parameters: numbered.value.parameters },
  });
}

/** Why no engine but a ClickHouse server can do what is asked. */
function needOf({ text }: Preparing, prepared: Prepared): GatewayError | undefined {
  const strange = strangeSetting(prepared.settings);
  if (strange !== undefined) return strange;
  const data = prepared.query.statement.kind === "insert" && insertForm(text.sql).kind === "data";
  if (text.body !== undefined || data) {
    const message = "rows in a format are taken for a ClickHouse cluster only; use INSERT … VALUES";
    return gatewayError("query.unsupported", { message });
  }
  if (formatOf(prepared.format) === undefined) {
    const message = `Unknown format ${prepared.format.slice(0, 100)} before an engine that is no ClickHouse`;
    return gatewayError("query.unsupported", { message, vendor: named("UNKNOWN_FORMAT") });
  }
  return undefined;
}

const transactionKinds: ReadonlySet<string> = new Set([
  "begin",
  "commit",
  "rollback",
  "savepoint",
  "prepare",
  "execute",
  "deallocate",
  "declare",
  "fetch",
  "close",
  "discard",
  "reset",
]);

/** What is refused whatever the engine: it would be accepted and not done over this protocol. */
function refusalOfKind(
  { request }: Asked,
  settings: ReadonlyMap<string, string>,
  { kind, tag, writes, doubt, sql }: Query["statement"],
): GatewayError | undefined {
  if (doubt === "severalStatements") {
    return gatewayError("query.syntax", { message: "Multi-statements are not allowed" });
  }
  if (transactionKinds.has(kind)) {
    return gatewayError("query.unsupported", { message: `${tag} is not known over HTTP` });
  }
  if (kind === "ddl" && createsTemporary(sql)) {
    const message = "temporary tables do not outlive their statement here";
    return gatewayError("query.unsupported", { message });
  }
  if (writes && (request.method !== "POST" || readsOnly(settings))) {
    const message = "Cannot execute query in readonly mode. The method GET implies it: use POST";
    return gatewayError("query.permission", { message, vendor: named("READONLY") });
  }
  return undefined;
}

async function killed(
  kill: { readonly queryId: string; readonly mode: string },
  { login }: Asked,
  { door, running }: Served,
): Promise<{ readonly sql: string } | undefined> {
  const { identity } = login;
  const found = running.find(identity.user, kill.queryId);
  if (kill.mode === "test") return found;
  if (found !== undefined) {
    found.canceller.abort(gatewayError("query.cancelled"));
    if (kill.mode === "sync") await running.gone(identity.user, kill.queryId);
    return found;
  }
  // The gateway's own id, which a client of another connection or an operator may know.
  const cancelled = await door.cancel(kill.queryId as QueryId, identity);
  return cancelled.ok ? { sql: "" } : undefined;
}

function headerOf({ request }: Asked, name: string): string | undefined {
  const value = request.headers[name];
  const text = Array.isArray(value) ? value.join(", ") : value;
  return text === "" ? undefined : text;
}
