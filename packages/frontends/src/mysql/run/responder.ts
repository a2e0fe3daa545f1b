/**
 * What the commands of one connection respond with: the client's session, the output buffer, and the
 * statement that runs on the engine.
 *
 * It reads nothing from the client and decides no command. How a result is written is in `resultSet.ts`.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import { copied } from "@gateway/core/tool/copied.ts";
import { giveBack } from "@gateway/core/tool/socket/lent.ts";
import { turnBytesMax } from "@gateway/core/tool/turn.ts";
import { Home } from "@gateway/core/query/home.ts";
import type {
  MysqlAttributes,
  MysqlCall,
  MysqlFiles,
  NextTransaction,
} from "@gateway/core/query/mysqlCall.ts";
import { warningCode, type FailedEvent, type ResultEvent } from "@gateway/core/query/event.ts";
import type { Query, QueryId, Session } from "@gateway/core/query/query.ts";
import { sentWith } from "@gateway/core/query/stages.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { NativeFormat } from "@gateway/core/type/vector.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { FollowedConnection } from "../../listener/connection.ts";
import { Breath } from "../../turn.ts";
import type { Channel } from "../channel.ts";
import {
  statusOf,
  withChange,
  withWarning,
  type ClientSession,
  type Warning,
  resultsOf,
} from "../session/clientSession.ts";
import { characterSet } from "@gateway/wire/mysql/charset/characterSet.ts";
import { putErrorPacket, putOkPacket, type AnswerContext } from "../encode.ts";
import { flushBytes } from "../limits.ts";
import { Heads } from "../value/heads.ts";
import { forwardedStatement } from "../read/reading.ts";
import { callOf, relayedRows, relays } from "./relaying.ts";
import type { BoundStatement, EngineStatement } from "./statement.ts";

/** Buffer kept between commands: an idle connection should cost little. */
const idleBufferBytes = 1024;
/** The number MySQL gives to a note without one of its own. */
const noteErrno = 1105;

/** What ends the work: core's cheap one where the door runs a query, the platform's where an engine is asked directly. */
type Controller = AbortController | Canceller;

/** What a query is made of. */
type Asked = Pick<EngineStatement, "sql" | "parameters" | "relayed" | "next" | "attributes">;

export interface ResponderParts {
  readonly door: Door;
  readonly host: Host;
  readonly connection: FollowedConnection;
  readonly channel: Channel;
}

export class Responder {
  readonly door: Door;
  readonly host: Host;
  readonly connection: FollowedConnection;
  readonly out = new PacketWriter();
  readonly heads = new Heads();
  readonly #channel: Channel;
  client: ClientSession;
  /** Where an engine keeps what only a connection can, for this login. */
  home = new Home();
  /** The client's files, where its login offers them. */
  files: MysqlFiles | undefined;
  /** What came with the command that runs; of its statements alone, never of what is asked for them. */
  attributes: MysqlAttributes | undefined;
  /** The home whose server has the session's user variables. */
  variablesOn: Home | undefined;
  #relayed: { readonly of: Session; readonly session: Session } | undefined;
  #plain: { readonly client: ClientSession; readonly call: MysqlCall } | undefined;
  #asked:
    | {
        readonly bound: BoundStatement;
        readonly client: ClientSession;
        readonly statement: EngineStatement;
      }
    | undefined;
  #controller: Controller | undefined;
  readonly #breath = new Breath();
  /** Text of the statement that runs. */
  running: string | undefined;
  /** Its query; undefined for work that is no query. */
  queryId: QueryId | undefined;
  /** When it began, or when the last command ended. */
  sinceMs: number;

  constructor(parts: ResponderParts, client: ClientSession) {
    this.door = parts.door;
    this.host = parts.host;
    this.connection = parts.connection;
    this.#channel = parts.channel;
    this.client = client;
    this.sinceMs = parts.host.clock.nowMs();
  }

  /** Ends what runs; its answer is an error with the reason. Nothing happens when nothing runs. */
  cancel(reason: GatewayError): void {
    this.#controller?.abort(reason);
  }

  /** Writes an OK and forgets the changes it told. */
  putOk(moreFollow = false): undefined {
    putOkPacket(this.out, this.context(moreFollow));
    this.told();
  }

  /** The OK of a command that is no statement: warnings are counted for the statement that made them alone. */
  putDone(): undefined {
    putOkPacket(this.out, { ...this.context(false), warnings: 0 });
    this.told();
  }

  /** The changes of the session were in the last OK. */
  told(): void {
    if (this.client.tracked.length > 0) this.client = { ...this.client, tracked: [] };
  }

  /** An error as its client reads texts; undefined where that is utf8mb4. */
  get encode(): ((text: string) => Uint8Array) | undefined {
    const results = resultsOf(this.client);
    return results && characterSet(results).encode;
  }

  /** Writes an error and keeps it for SHOW WARNINGS. */
  putError(reply: ErrorReply): false {
    putErrorPacket(this.out, reply, this.encode);
    const warning = { level: "Error", errno: reply.errno, text: reply.message } as const;
    this.client = { ...this.client, warnings: [warning], rowCount: -1 };
    return false;
  }

  /** What the next packet of an answer says about the session. */
  context(moreFollow: boolean, queryId?: string): AnswerContext {
    const { client } = this;
    return {
      capabilities: client.capabilities,
      extendedMetadata: client.extendedMetadata,
      status: statusOf(client, moreFollow),
      warnings: client.warnings.length,
      tracked: client.tracked,
      queryId,
    };
  }

  /** Sends what is written. A promise only where it did not leave at once. */
  flush(): Promise<void> | undefined {
    const { out } = this;
    const { at: length } = out;
    if (length === 0) return undefined;
    // A short answer leaves with the end of the turn, and the buffer is written to before.
    const short = length <= turnBytesMax;
    const bytes = short ? copied(Buffer.allocUnsafe(length), out.bytes) : out.written();
    const leaving = this.#channel.send(bytes);
    if (leaving !== undefined) return leaving.then(() => this.out.reset(flushBytes * 2));
    out.reset(flushBytes * 2);
    return undefined;
  }

  /** The same once enough is written. */
  flushFull(): Promise<void> | undefined {
    return this.out.at < flushBytes ? undefined : this.#flushAndRest();
  }

  async #flushAndRest(): Promise<void> {
    const bytes = this.out.at;
    await this.flush();
    await this.#breath.behind(bytes);
  }

  /** Sends what is written, and behind it rows that are packets already; they are given back once they have left. */
  async passOn(rows: Uint8Array): Promise<undefined> {
    await this.flush();
    await this.#channel.send(rows);
    giveBack(rows);
    await this.#breath.behind(rows.length);
  }

  /** Sends the rest of a command's answer and lets a large buffer go. */
  finish(): Promise<void> | undefined {
    const leaving = this.flush();
    return leaving === undefined ? this.#atRest() : leaving.then(() => this.#atRest());
  }

  #atRest(): undefined {
    this.out.reset(idleBufferBytes);
    this.attributes = undefined;
    this.sinceMs = this.host.clock.nowMs();
  }

  /** Runs a statement whose answer the client did not ask for. The error when it failed. */
  async runQuietly(sql: string, next?: NextTransaction): Promise<GatewayError | undefined> {
    const query = this.open({ sql, parameters: [], next });
    for await (const event of this.events(query)) {
      this.remember(event);
      if (event.kind === "failed") return event.error;
    }
    return undefined;
  }

  /** A signal that lives until the returned value is disposed, for calls that are not streams. */
  interruptible(
    text: string,
    controller: Controller = new AbortController(),
  ): { readonly signal: AbortSignal } & Disposable {
    const { signal } = this.#begin(text, controller);
    return new Interruptible(signal, this.#endedCall);
  }

  /** Notes the work that the controller ends as what runs now. */
  #begin(text: string, controller: Controller, nowMs = this.host.clock.nowMs()): Controller {
    this.#controller = controller;
    this.running = text.length > shownTextMax ? text.slice(0, shownTextMax) : text;
    this.sinceMs = nowMs;
    if (this.connection.over) controller.abort(gatewayError("query.cancelled"));
    return controller;
  }

  readonly #endedCall = (): void => {
    this.ran();
    this.sinceMs = this.host.clock.nowMs();
  };

  /** The same of a command's own query, until `ran`. */
  begin(query: Query): Controller {
    this.queryId = query.id;
    return this.#begin(query.sql, new Canceller(), query.receivedAtMs);
  }

  /** What its engine was asked for the statement that ran last, where this is the same of the same session. */
  again(bound: BoundStatement): EngineStatement | undefined {
    const { attributes } = this;
    const last = this.#asked;
    const isSame = last?.bound === bound && last.client === this.client;
    return isSame && attributes === undefined ? last.statement : undefined;
  }

  /** Keeps that, where all of it follows from both. */
  keep(bound: BoundStatement, statement: EngineStatement): EngineStatement {
    const { client } = this;
    if (client.next === undefined && statement.attributes === undefined)
      this.#asked = { bound, client, statement };
    return statement;
  }

  /** Ends what runs after so long; undefined means that it may take any time. */
  limited(timeMs: number | undefined): Disposable | undefined {
    if (timeMs === undefined) return undefined;
    return this.host.clock.timer(timeMs, () => this.cancel(gatewayError("query.timeout")));
  }

  /** Nothing runs any more. What is still to be sent is sent at once. */
  ran(): void {
    this.#controller = undefined;
    this.running = undefined;
    this.queryId = undefined;
  }

  /** Makes the query of a statement and forgets the warnings of the last one. */
  open(statement: Asked, takes = noFormats): Query {
    if (this.client.warnings.length > 0) this.client = { ...this.client, warnings: [] };
    return this.asked(statement, takes);
  }

  /** The query of a statement, which changes nothing of the session. To a server of MySQL's with what belongs to it. */
  asked({ sql, parameters, relayed, next, attributes }: Asked, takes = noFormats): Query {
    const { session } = this.client;
    const { door } = this;
    const own = takes.length === 0 ? takes : relayedRows;
    if (relayed !== undefined) {
      const { statement, execution, settings } = relayed;
      const query = door.query(statement, noParameters, this.#relayedSession(session), own);
      const isPlain = execution === undefined && next === undefined && attributes === undefined;
      const call =
        isPlain && settings === undefined
          ? this.#plainCall()
          : callOf(this, { execution, next, attributes, settings });
      return sentWith(query, { takes: query.takes, call: undefined, mysql: call });
    }
    const statement = forwardedStatement(sql);
    if (!relays(this)) return door.query(statement, parameters, session, takes);
    const query = door.query(statement, parameters, session, own);
    return sentWith(query, { takes: query.takes, mysql: callOf(this, { next, attributes }) });
  }

  /** The session as statements in the client's own words have it: one for all of them, until it is another. */
  #relayedSession(session: Session): Session {
    let relayed = this.#relayed;
    if (relayed?.of !== session) {
      relayed = { of: session, session: { ...session, dialect: "mysql" } };
      this.#relayed = relayed;
    }
    return relayed.session;
  }

  /** What goes with a statement that has nothing for itself. The same for all of them, until the session is another. */
  #plainCall(): MysqlCall {
    const { client, home, files } = this;
    let plain = this.#plain;
    if (plain?.client !== client || plain.call.home !== home || plain.call.files !== files) {
      plain = { client, call: callOf(this, ofNone) };
      this.#plain = plain;
    }
    return plain.call;
  }

  /** Another session begins on this connection, or none: nothing stays with an engine. */
  async leaveHome(): Promise<void> {
    const { home } = this;
    this.home = new Home();
    await home[Symbol.asyncDispose]();
  }

  /** The events of a query, the last one with our own reason when it was ended here. */
  async *events(query: Query): AsyncGenerator<ResultEvent, void, void> {
    using running = this.interruptible(query.sql, new Canceller());
    this.queryId = query.id;
    for await (const event of this.door.run(query, running.signal)) {
      yield event.kind === "failed" ? { kind: "failed", error: this.reasonOf(event) } : event;
      if (event.kind === "done" || event.kind === "failed") return;
    }
    // A stream without a last event must not look like a complete result.
    yield { kind: "failed", error: gatewayError("engine.broken") };
  }

  /** The error of what runs: our own reason where it was ended here, whatever the engine made of it. */
  reasonOf({ error }: FailedEvent): GatewayError {
    const signal = this.#controller?.signal;
    const ours = signal?.aborted === true && error.code === "query.cancelled";
    return ours ? abortError(signal) : error;
  }

  /** Gives the session these settings. */
  settle(settings: ClientSession["session"]["settings"]): void {
    const { session } = this.client;
    this.client = { ...this.client, session: { ...session, settings } };
  }

  /** Takes over what an event changes in the session. */
  remember(event: ResultEvent): void {
    if (event.kind === "session") this.client = withChange(this.client, event.change);
    // A server of the family warns of neither.
    if (event.kind === "notice" && !silent.has(event.code)) {
      this.client = withWarning(this.client, warningOf(event));
    }
  }
}

/** What the gateway itself says of BEGIN in a transaction, and of its end where there is none. */
const silent: ReadonlySet<string> = new Set(["inTransaction", "noTransaction"]);

/** A server of the family names level and number of each; what others say is a note. */
function warningOf({ code, text }: Extract<ResultEvent, { kind: "notice" }>): Warning {
  if (code === warningCode) return { level: "Warning", errno: noteErrno, text };
  const [, level, errno] = /^(Note|Warning|Error) (\d{1,5})$/.exec(code) ?? [];
  return isLevel(level)
    ? { level, errno: Number(errno), text }
    : { level: "Note", errno: noteErrno, text };
}

function isLevel(word: string | undefined): word is Warning["level"] {
  return word === "Note" || word === "Warning" || word === "Error";
}

const noParameters: readonly Parameter[] = [];
const ofNone = { execution: undefined, next: undefined, attributes: undefined };

const noFormats: readonly NativeFormat[] = [];

/** Characters of a statement that SHOW PROCESSLIST keeps. */
const shownTextMax = 1024;

/** A class: see onDispose.ts. Every statement takes one. */
class Interruptible implements Disposable {
  readonly signal: AbortSignal;
  readonly #ended: () => void;

  constructor(signal: AbortSignal, ended: () => void) {
    this.signal = signal;
    this.#ended = ended;
  }

  [Symbol.dispose](): void {
    this.#ended();
  }
}
