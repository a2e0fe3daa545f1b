/**
 * One connection from its first byte to its last: reads frames, asks `machine.ts` what they mean in
 * this phase, and performs the effects in order.
 *
 * One message is finished before the next is looked at, so nothing here runs twice at once. While a
 * statement runs the socket is still read into a bounded queue: a client that leaves is noticed by
 * reading only.
 */
import { setImmediate } from "node:timers/promises";
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { sslAccepted, encryptionRefused } from "@gateway/wire/postgres/backend.ts";
import type { Frame, FrameRule } from "@gateway/wire/postgres/frame.ts";
import { frontendTypes, parseFrontend } from "@gateway/wire/postgres/frontend.ts";
import type { FrontendMessage, StartMessage, Violation } from "@gateway/wire/postgres/message.ts";
import { parseStart, startBytesMax } from "@gateway/wire/postgres/start.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import { secretBytes, type CancelKeys } from "./run/cancel.ts";
import type { Mirrors } from "./catalog/mirrors.ts";
import { encodeError } from "./encode.ts";
import { errorReport, type ErrorPlace } from "./errors.ts";
import { frontendKind, openSession, readStartup, type Opening } from "./login/handshake.ts";
import { Desk } from "./run/desk.ts";
import { Inbox } from "./inbox.ts";
import { LoginExchange, type LoginStep } from "./login/login.ts";
import { advance, beforeStart, type Effect, type Input, type Phase } from "./machine.ts";
import { Outbox } from "./outbox.ts";
import type { Failure } from "./run/failure.ts";
import type { AsideRoom } from "./run/rowsAside.ts";
import type { StatementReader } from "./read/statement.ts";
import { sessionRule, textTooLarge } from "./read/textLimit.ts";
import {
  functionError,
  protocolError,
  textError,
  violationError,
  violationInput,
} from "./violations.ts";

export interface ConversationParts {
  readonly door: Door;
  readonly host: Host;
  readonly keys: CancelKeys;
  readonly asideRoom: AsideRoom;
  readonly mirrors: Mirrors;
  readonly read: StatementReader;
}

/** A password and what stands around it, as in PostgreSQL (PG_MAX_AUTH_TOKEN_LENGTH). */
const loginBytesMax = 65_535;
/** First byte of a TLS handshake: a client that begins with it asks for no permission. */
const tlsHandshake = 0x16;

/** Messages handled in one go before other connections get a turn. A client can send millions at once. */
const messagesPerTurn = 256;

type Message = StartMessage | FrontendMessage;

/** What is being answered. */
interface Happening {
  readonly message: Message | undefined;
  readonly violation: Violation | undefined;
}

/** The same with the phase in which it happened and what the table says. */
interface Performed extends Happening {
  readonly before: Phase;
  readonly effects: readonly Effect[];
}

const nothing: Happening = { message: undefined, violation: undefined };

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
  readonly #out: Outbox;
  #phase: Phase = "start";
  #opening: Opening | undefined;
  #login: LoginExchange | undefined;
  #desk: Desk | undefined;
  /** An error that ends the connection was sent: what else the table says is left undone. */
  #over = false;
  #sessionRule: FrameRule | undefined;

  constructor(connection: FollowedConnection, parts: ConversationParts) {
    this.#connection = connection;
    this.#parts = parts;
    this.#out = new Outbox((bytes) => connection.send(bytes));
    this.#inbox = new Inbox(connection, () => this.#rule().maxBytes);
    connection.whenOver(() => this.#left());
  }

  async run(): Promise<void> {
    let handled = 0;
    while (this.#phase !== "closed" && !this.#connection.over) {
      if (this.#phase === "start" && this.#inbox.peek() === tlsHandshake) {
        if (!(await this.#startTls())) return;
        continue;
      }
      const step = this.#inbox.next(this.#rule());
      handled = step.kind === "wait" ? 0 : handled + 1;
      if (handled % messagesPerTurn === messagesPerTurn - 1) await setImmediate();
      if (step.kind === "wait") {
        // A drain may close the connection while it rests.
        const resting = this.#phase === "idle" && this.#desk?.resting === true;
        if (resting) this.#connection.idle(true);
        await this.#inbox.more();
        if (resting) this.#connection.idle(false);
      } else if (step.kind === "violation") {
        await this.#happen("violation", { message: undefined, violation: step.violation });
      } else if (step.kind === "skipped") {
        const violation = textTooLarge(step, this.#connection.config);
        const input = violationInput(violation, this.#phase);
        await this.#happen(input, { message: undefined, violation });
      } else {
        const pending = this.#open(step.frame);
        if (pending !== undefined) await pending;
      }
    }
  }

  #open(frame: Frame): Promise<void> | undefined {
    const parsed = beforeStart(this.#phase) ? parseStart(frame.body) : parseFrontend(frame);
    if (parsed.kind === "message") return this.#receive(parsed.message);
    const { violation } = parsed;
    return this.#happen(violationInput(violation, this.#phase), { message: undefined, violation });
  }

  /** A bug of ours: the client is told that it is not its fault. */
  apologise(): void {
    // What was not sent yet may end in the middle of a message.
    this.#out.writer.take();
    const report = errorReport(gatewayError("internal.bug"), {}, "FATAL");
    this.#out.put({ kind: "error", report });
    void this.#out.flush();
  }

  async end(): Promise<void> {
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

  #left(): void {
    this.#desk?.leave();
    this.#inbox.wake();
  }

  /** Most messages are answered at once: a promise is made only for those that take time. */
  #receive(message: Message): Promise<void> | undefined {
    const desk = this.#desk;
    if (desk !== undefined && isTyped(message) && desk.waits(message)) {
      return this.#settle(desk, message);
    }
    return this.#happen(message.kind, { message, violation: undefined });
  }

  async #settle(desk: Desk, message: FrontendMessage): Promise<void> {
    const failure = await desk.settle();
    if (failure !== undefined) await this.#fail(failure.error, failure.place);
    await this.#happen(message.kind, { message, violation: undefined });
  }

  /** Takes the step of the table and performs its effects. */
  #happen(input: Input, { message, violation }: Happening): Promise<void> | undefined {
    const before = this.#phase;
    const { next, effects } = advance(before, input);
    this.#phase = next;
    return this.#performFrom(0, { message, violation, before, effects });
  }

  /** Effects from that one on, in order. */
  #performFrom(first: number, happening: Performed): Promise<void> | undefined {
    const { effects } = happening;
    for (let index = first; index < effects.length; index += 1) {
      const effect = effects[index];
      const pending = effect === undefined ? undefined : this.#perform(effect, happening);
      if (pending !== undefined) return this.#performRest(pending, index + 1, happening);
      if (this.#over || this.#connection.over) return undefined;
    }
    return this.#out.full ? this.#out.flush() : undefined;
  }

  async #performRest(pending: Promise<void>, next: number, happening: Performed): Promise<void> {
    await pending;
    if (this.#over || this.#connection.over) return;
    const rest = this.#performFrom(next, happening);
    if (rest !== undefined) await rest;
  }

  #perform(effect: Effect, { message, violation, before }: Performed): Promise<void> | undefined {
    switch (effect) {
      case "answerSsl":
        return this.#answerSsl();
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
      case "refuseFunction":
        return this.#fail(functionError(), {});
      case "hangUp":
        return this.#hangUp();
      case "query":
      case "parse":
      case "bind":
      case "describe":
      case "execute":
      case "close":
      case "sync":
        return message !== undefined && isTyped(message) ? this.#serve(message) : undefined;
    }
  }

  /** A text that can not be taken ends an open transaction, like every error in it. */
  async #reportText(violation: Violation | undefined): Promise<void> {
    const error = textError(violation);
    const failed = await this.#desk?.refuse({ error, place: {} });
    await this.#fail(failed?.error ?? error, {});
  }

  #serve(message: FrontendMessage): Promise<void> | undefined {
    const served = this.#desk?.perform(message);
    if (served instanceof Promise) return this.#served(served);
    return served === undefined ? undefined : this.#fail(served.error, served.place);
  }

  async #served(pending: Promise<Failure | undefined>): Promise<void> {
    const failure = await pending;
    if (failure !== undefined) await this.#fail(failure.error, failure.place);
  }

  async #checkPassword(body: Uint8Array): Promise<void> {
    if (this.#login !== undefined) await this.#logIn(await this.#login.answer(body));
  }

  async #hangUp(): Promise<void> {
    await this.#out.flush();
    this.#connection.end();
  }

  /** Sends an error of a message; whether the series or the connection goes on is in the table. */
  async #fail(error: GatewayError, place: ErrorPlace): Promise<void> {
    if (encodeError(error, place, this.#out)) await this.#close();
    else if (this.#phase === "extended") await this.#happen("stepFailed", nothing);
  }

  /** An error before the session is open ends the connection, whatever it is. */
  async #fatal(error: GatewayError): Promise<void> {
    this.#out.put({ kind: "error", report: errorReport(error, {}, "FATAL") });
    await this.#close();
  }

  async #close(): Promise<void> {
    this.#over = true;
    this.#phase = "closed";
    await this.#out.flush();
    this.#connection.end();
  }

  async #answerSsl(): Promise<void> {
    if (!this.#connection.canUpgrade) {
      this.#out.writer.u8(encryptionRefused);
      await this.#out.flush();
      return;
    }
    // What came behind the request was not encrypted and would be taken for what is.
    if (this.#inbox.pending > 0) {
      return await this.#fatal(protocolError("received unencrypted data after SSL request"));
    }
    this.#out.writer.u8(sslAccepted);
    await this.#out.flush();
    // The client may have begun its handshake while the answer was on its way.
    if (!(await this.#upgrade(this.#inbox.rest()))) this.#phase = "closed";
  }

  /** TLS without asking. Refused by silence where there is no certificate: the client speaks TLS only. */
  async #startTls(): Promise<boolean> {
    if (!this.#connection.canUpgrade) return false;
    this.#phase = "afterBoth";
    if (!(await this.#upgrade(this.#inbox.rest()))) return false;
    if (this.#connection.protocolAgreed) return true;
    // Another protocol's client, or one that was led here: both sides have to name what they speak.
    const message =
      "received direct SSL connection request without ALPN protocol negotiation extension";
    await this.#fatal(protocolError(message));
    return false;
  }

  async #upgrade(rest: Uint8Array): Promise<boolean> {
    const secured = await this.#connection.upgrade(rest);
    if (secured === undefined) return false;
    this.#inbox.listen();
    return true;
  }

  async #start(message: Extract<StartMessage, { kind: "startup" }>): Promise<void> {
    const opening = readStartup(message);
    if (!opening.ok) return await this.#fatal(opening.error);
    this.#opening = opening.value;
    const { unknownOptions, minor } = opening.value;
    if (unknownOptions !== undefined) {
      this.#out.put({ kind: "negotiateVersion", version: (3 << 16) | minor, unknownOptions });
    }
    const { user } = opening.value;
    this.#login = new LoginExchange({ ...this.#parts, connection: this.#connection, user });
    await this.#logIn(await this.#login.begin());
  }

  /** What a step of the login leads to. */
  async #logIn(step: LoginStep): Promise<void> {
    if (this.#connection.over) return;
    switch (step.kind) {
      case "ask":
        this.#out.put(step.message);
        return await this.#happen("passwordWanted", nothing);
      case "refused":
        return await this.#fatal(step.error);
      case "admitted":
        if (step.message !== undefined) this.#out.put(step.message);
        return await this.#admit(step.login);
    }
  }

  async #admit(login: Login): Promise<void> {
    const { door } = this.#parts;
    const opening = this.#opening;
    if (opening === undefined) throw new Error("a login without a start-up packet");
    const { minor } = opening;
    const { address } = this.#connection;
    const keyBytes = minor >= 2 ? secretBytes.long : secretBytes.short;
    this.#desk = new Desk({
      ...this.#parts,
      out: this.#out,
      session: openSession(opening, login, address, door),
      keyBytes,
      inbox: this.#inbox,
      maxMessageBytes: this.#connection.config.maxMessageBytes,
      texts: { limits: this.#connection.config, client: this.#connection },
    });
    this.#opening = undefined;
    this.#login = undefined;
    this.#connection.handshakeDone();
    this.#desk.welcome();
    await this.#happen("admitted", nothing);
  }
}

function isTyped(message: Message): message is FrontendMessage {
  switch (message.kind) {
    case "sslRequest":
    case "gssRequest":
    case "cancelRequest":
    case "startup":
      return false;
    default:
      return true;
  }
}
