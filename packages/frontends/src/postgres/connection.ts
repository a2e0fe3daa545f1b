/**
 * One connection from its first byte to its last: reads frames, asks `machine.ts` what they mean in
 * this phase, and performs the effects in order.
 *
 * It finishes one message before it looks at the next, so nothing here runs twice at once. While a
 * statement runs, the socket is still read into a bounded queue: only reading shows that a client left.
 */
import { setImmediate } from "node:timers/promises";
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { encryptionRefused } from "@gateway/wire/postgres/backend.ts";
import type { FrameRule } from "@gateway/wire/postgres/frame.ts";
import { frontendTypes } from "@gateway/wire/postgres/frontend.ts";
import type { StartMessage, Violation } from "@gateway/wire/postgres/message.ts";
import { startBytesMax } from "@gateway/wire/postgres/start.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import { secretBytes, type CancelKeys } from "./run/cancel.ts";
import type { Mirrors } from "./catalog/mirrors.ts";
import { encodeError } from "./encode.ts";
import { errorReport, type ErrorPlace } from "./errors.ts";
import { receivedOf, isTyped, ownInput, type Came, type Received } from "./received.ts";
import {
  answerSsl,
  startTls,
  tlsHandshake,
  type Encryption,
  type EncryptionParts,
} from "./login/encryption.ts";
import { frontendKind, openSession, readStartup, type StartupRequest } from "./login/handshake.ts";
import { Desk } from "./run/desk.ts";
import { deskInbox, Inbox } from "./inbox.ts";
import { LongMessages, type Sender } from "./longMessages.ts";
import { LoginExchange, type LoginStep } from "./login/login.ts";
import { advance, beforeStart, type Effect, type Phase } from "./machine.ts";
import { Outbox } from "./outbox.ts";
import { OwedTime } from "./owed.ts";
import type { Failure } from "./failure.ts";
import type { AsideRoom } from "./run/execution/rowsAside.ts";
import type { StatementReader } from "./read/statement.ts";
import { sessionRule } from "./read/textLimit.ts";
import { lostError, textError, violationError } from "./violations.ts";

export interface ConversationParts {
  readonly door: Door;
  readonly host: Host;
  readonly keys: CancelKeys;
  readonly asideRoom: AsideRoom;
  readonly mirrors: Mirrors;
  readonly read: StatementReader;
}

/** The longest message of a login, as in PostgreSQL (PG_MAX_AUTH_TOKEN_LENGTH). */
const loginBytesMax = 65_535;
/** After so many messages in one go, other connections get a turn. A client can send millions at once. */
const messagesPerTurn = 256;

/** What happened, the phase in which it did, and the effects that the table names. */
interface Performed extends Received {
  readonly before: Phase;
  readonly effects: readonly Effect[];
}

/** Serves the connection; resolves when it is over and everything it held is given back. */
export async function converse(
  connection: FollowedConnection,
  parts: ConversationParts,
): Promise<void> {
  const conversation = new Conversation(connection, parts);
  try {
    await conversation.run();
  } catch (bug) {
    parts.host.log.bug(bug, { frontend: frontendKind });
    conversation.apologise();
  } finally {
    connection.end();
    await conversation.end();
  }
}

class Conversation {
  readonly #connection: FollowedConnection;
  readonly #parts: ConversationParts;
  readonly #inbox: Inbox;
  readonly #long: LongMessages;
  readonly #out: Outbox;
  #phase: Phase = "start";
  #startup: StartupRequest | undefined;
  #login: LoginExchange | undefined;
  #desk: Desk | undefined;
  /** An error that ends the connection was sent: no further effect is performed. */
  #over = false;
  #resting = false;
  /** Where the next message begins is not known: the error that says why is the last but one. */
  #lost = false;
  #sessionRule: FrameRule | undefined;
  /** In the middle of a series. */
  readonly #owed: OwedTime;

  constructor(connection: FollowedConnection, parts: ConversationParts) {
    this.#connection = connection;
    this.#parts = parts;
    this.#out = new Outbox((bytes) => connection.send(bytes));
    this.#inbox = new Inbox(connection, () => this.#rule().maxBytes);
    this.#long = new LongMessages({ connection, inbox: this.#inbox, clock: parts.host.clock });
    this.#owed = new OwedTime(parts.host.clock);
    connection.whenOver(() => this.#left());
  }

  async run(): Promise<void> {
    let handled = 0;
    while (this.#phase !== "closed" && !this.#connection.over) {
      if (this.#phase === "start" && this.#inbox.peek() === tlsHandshake) {
        // Both requests for encryption are out of place now.
        this.#phase = "afterBoth";
        await this.#encrypt(startTls(this.#encryptionParts));
        continue;
      }
      const step = this.#inbox.next(this.#rule());
      handled = step.kind === "wait" ? 0 : handled + 1;
      if (handled % messagesPerTurn === messagesPerTurn - 1) await setImmediate();
      if (step.kind === "long") {
        await this.#long.decide(step, this.#sender);
        continue;
      }
      if (step.kind === "wait") {
        await this.#more();
        this.#woke();
        continue;
      }
      if (this.#owed.ms > 0) await this.#judgeOwed();
      this.#long.arrived();
      const received = this.#received(step);
      if (this.#waits(received)) {
        await this.#settle(received, step);
        continue;
      }
      // As `#happen` does, in place of a promise more for each query.
      const happening = this.#advance(received);
      const { effects } = happening;
      for (const effect of effects) {
        const pending = this.#perform(effect, happening);
        if (pending instanceof Promise) this.#out.writer.leaveScratch();
        const failure = pending instanceof Promise ? await pending : pending;
        if (failure !== undefined) await this.#failed(failure);
        if (this.#isOver) break;
      }
      if (this.#out.full && !this.#isOver) await this.#out.flush();
    }
  }

  /** Resolves when more came, or the client is gone. */
  #more(): Promise<void> | void {
    this.#out.writer.leaveScratch();
    this.#long.rest(this.#phase === "idle");
    // A drain may close the connection while it rests.
    this.#resting = this.#phase === "idle" && this.#desk?.resting === true;
    if (this.#resting) this.#connection.idle(true);
    this.#desk?.waiting();
    if (this.#resting) this.#desk?.rest();
    const more = this.#inbox.more();
    return this.#phase === "extended" ? this.#owed.counted(more) : more;
  }

  #woke(): void {
    if (this.#resting) this.#connection.idle(false);
    this.#resting = false;
  }

  #received(step: Came): Received {
    return receivedOf(step, this.#phase, this.#long.skippedLimit, this.#desk?.charset);
  }

  /** Tells the client of a bug of ours, which is not its fault. */
  apologise(): void {
    // The output that was not sent yet may end in the middle of a message.
    this.#out.writer.take();
    const report = errorReport(gatewayError("internal.bug"), {}, "FATAL");
    this.#out.put({ kind: "error", report });
    void this.#out.flush();
  }

  async end(): Promise<void> {
    this.#out.writer.take();
    await this.#desk?.end();
  }

  #rule(): FrameRule {
    if (beforeStart(this.#phase)) return { types: undefined, maxBytes: startBytesMax };
    const { maxMessageBytes } = this.#connection.config;
    if (this.#phase === "login") {
      return { types: frontendTypes, maxBytes: Math.min(loginBytesMax, maxMessageBytes) };
    }
    return (this.#sessionRule ??= sessionRule(this.#connection.config));
  }

  get #sender(): Sender {
    const { user = "", passesTexts = false } = this.#desk ?? {};
    return { user, passesTexts };
  }

  #left(): void {
    this.#long.leave();
    this.#desk?.leave();
    this.#inbox.wake();
  }

  /** Something waits that has to be answered before the message. */
  #waits({ message }: Received): boolean {
    // One that can not be read is an error behind whatever waits, too.
    const typed = message !== undefined && isTyped(message) ? message : undefined;
    return this.#desk?.waits(typed) === true;
  }

  async #settle(received: Received, step: Came): Promise<void> {
    const charset = this.#desk?.charset;
    const failure = await this.#desk?.settle();
    if (failure !== undefined) await this.#failed(failure);
    // What was settled may be that the client writes in another encoding from here on.
    const same = this.#desk?.charset === charset;
    await this.#happen(same ? received : this.#received(step));
  }

  /** Takes the step of the table and performs its effects. */
  async #happen(received: Received): Promise<void> {
    const happening = this.#advance(received);
    for (const effect of happening.effects) {
      const failure = await this.#perform(effect, happening);
      if (failure !== undefined) await this.#failed(failure);
      if (this.#isOver) return;
    }
    if (this.#out.full) await this.#out.flush();
  }

  #advance({ input, message, violation }: Received): Performed {
    const before = this.#phase;
    const { next, effects } = advance(before, input);
    this.#phase = next;
    return { input, message, violation, before, effects };
  }

  /** No further effect is performed. */
  get #isOver(): boolean {
    return this.#over || this.#connection.over;
  }

  #perform(
    effect: Effect,
    { message, violation, before }: Performed,
  ): Failure | Promise<Failure | undefined | void> | undefined {
    switch (effect) {
      case "answerSsl":
        return this.#encrypt(answerSsl(this.#encryptionParts));
      case "answerGss":
        this.#out.writer.u8(encryptionRefused);
        return this.#out.flush();
      case "cancel":
        if (message?.kind === "cancelRequest") this.#parts.keys.present(message);
        return undefined;
      case "start":
        return message?.kind === "startup" ? this.#start(message) : undefined;
      case "checkPassword":
        return message?.kind === "password" ? this.#checkPassword(message.body) : undefined;
      case "ready":
        this.#desk?.ready();
        return undefined;
      case "flush":
        return this.#out.flush();
      case "refuse":
        return this.#fatal(violationError(violation, before));
      case "reportText":
        return this.#reportText(violation);
      case "hangUp":
        return this.#hangUp();
      case "query":
      case "parse":
      case "bind":
      case "describe":
      case "execute":
      case "close":
      case "call":
      case "sync":
        return message !== undefined && isTyped(message) ? this.#desk?.perform(message) : undefined;
    }
  }

  /** A text that can not be read makes an open transaction fail, like every error in it. */
  async #reportText(violation: Violation | undefined): Promise<void> {
    const error = textError(violation, this.#desk?.charset?.name);
    await this.#failed({ error, place: {} });
  }

  /** A client that took too long over a statement is told with its next message, as by a server. */
  async #judgeOwed(): Promise<void> {
    const failure = await this.#desk?.overdue(this.#owed.ms);
    if (failure !== undefined) await this.#failed(failure);
    if (this.#desk?.owing !== true) this.#owed.ms = 0;
  }

  async #failed(failure: Failure): Promise<void> {
    const { error, place } = (await this.#desk?.failed(failure)) ?? failure;
    await this.#fail(error, place);
  }

  async #checkPassword(body: Uint8Array): Promise<void> {
    if (this.#login !== undefined) await this.#logIn(await this.#login.answer(body));
  }

  /** Sends the error of a message. The table says whether the series goes on. */
  async #fail(error: GatewayError, place: ErrorPlace): Promise<void> {
    if (encodeError(error, place, this.#out)) await this.#close();
    else if (this.#lost) await this.#fatal(lostError());
    else if (this.#phase === "extended") await this.#happen(ownInput("stepFailed"));
  }

  /** An error before the session is open ends the connection, whatever it is. */
  async #fatal(error: GatewayError): Promise<void> {
    this.#out.put({ kind: "error", report: errorReport(error, {}, "FATAL") });
    await this.#close();
  }

  async #close(): Promise<void> {
    this.#over = true;
    this.#phase = "closed";
    await this.#hangUp();
  }

  async #hangUp(): Promise<void> {
    await this.#out.flush();
    this.#connection.end();
  }

  /** What an attempt to encrypt leads to. */
  async #encrypt(encrypting: Promise<Encryption>): Promise<void> {
    const encryption = await encrypting;
    if (encryption.kind === "failed") this.#phase = "closed";
    if (encryption.kind === "refused") await this.#fatal(encryption.error);
  }

  get #encryptionParts(): EncryptionParts {
    return { connection: this.#connection, out: this.#out, inbox: this.#inbox };
  }

  async #start(message: Extract<StartMessage, { kind: "startup" }>): Promise<void> {
    const request = readStartup(message);
    if (!request.ok) return await this.#fatal(request.error);
    this.#startup = request.value;
    const { unknownOptions, minor } = request.value;
    if (unknownOptions !== undefined) {
      this.#out.put({ kind: "negotiateVersion", version: (3 << 16) | minor, unknownOptions });
    }
    const { user } = request.value;
    this.#login = new LoginExchange({ ...this.#parts, connection: this.#connection, user });
    await this.#logIn(await this.#login.begin());
  }

  /** What a step of the login leads to. */
  async #logIn(step: LoginStep): Promise<void> {
    if (this.#connection.over) return;
    switch (step.kind) {
      case "ask":
        this.#out.put(step.message);
        return await this.#happen(ownInput("passwordWanted"));
      case "refused":
        return await this.#fatal(step.error);
      case "admitted":
        if (step.message !== undefined) this.#out.put(step.message);
        return await this.#admit(step.login);
    }
  }

  async #admit(login: Login): Promise<void> {
    const request = this.#startup;
    if (request === undefined) throw new Error("a login without a start-up packet");
    const { minor } = request;
    const keyBytes = minor >= 2 ? secretBytes.long : secretBytes.short;
    const session = openSession(request, login, this.#connection.address, this.#parts.door);
    if (!session.ok) return await this.#fatal(session.error);
    this.#desk = new Desk({
      ...this.#parts,
      out: this.#out,
      session: session.value,
      keyBytes,
      inbox: deskInbox(this.#inbox, {
        owed: this.#owed,
        rule: () => this.#rule(),
        lose: () => void (this.#lost = true),
      }),
      maxMessageBytes: this.#connection.config.maxMessageBytes,
      texts: { limits: this.#connection.config, client: this.#connection },
      gone: (error) => void this.#fatal(error),
    });
    this.#startup = undefined;
    this.#login = undefined;
    this.#connection.handshakeDone();
    this.#desk.welcome();
    await this.#happen(ownInput("admitted"));
  }
}
