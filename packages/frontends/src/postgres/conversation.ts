/**
 * One connection from its first byte to its last: reads frames, asks `machine.ts` what they mean in
 * this phase, and performs the effects in order.
 *
 * One message is finished before the next is looked at, so nothing here runs twice at once. While a
 * statement runs the socket is still read into a bounded queue: a client that leaves is noticed by
 * reading only.
 */
import { setImmediate } from "node:timers/promises";
import type { Door } from "@gateway/core/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Secret } from "@gateway/core/secret.ts";
import { sslAccepted, encryptionRefused } from "@gateway/wire/postgres/backend.ts";
import { FrameReader, type FrameRule } from "@gateway/wire/postgres/frame.ts";
import { frontendTypes, parseFrontend, parsePassword } from "@gateway/wire/postgres/frontend.ts";
import type { FrontendMessage, StartMessage, Violation } from "@gateway/wire/postgres/message.ts";
import { parseStart, startBytesMax } from "@gateway/wire/postgres/start.ts";
import type { Connection } from "../listener/connection.ts";
import { mayTakeCredentials } from "../listener/tls.ts";
import { secretBytes, type CancelKeys } from "./cancel.ts";
import { encodeError } from "./encode.ts";
import { errorReport, type ErrorPlace } from "./errors.ts";
import { frontendKind, openSession, readStartup, type Opening } from "./handshake.ts";
import { Desk } from "./desk.ts";
import { advance, beforeStart, type Effect, type Input, type Phase } from "./machine.ts";
import { Outbox } from "./outbox.ts";
import {
  encodingError,
  functionError,
  passwordError,
  protocolError,
  violationError,
  violationInput,
} from "./violations.ts";

export interface ConversationParts {
  readonly door: Door;
  readonly host: Host;
  readonly keys: CancelKeys;
}

/** A password and what stands around it, as in PostgreSQL (PG_MAX_AUTH_TOKEN_LENGTH). */
const loginBytesMax = 65_535;
/** First byte of a TLS handshake: a client that begins with it asks for no permission. */
const tlsHandshake = 0x16;

/** What may wait beside a message of the largest size. A client that leaves while more waits is noticed later. */
const readAheadBytes = 64 * 1024;

/** Messages handled in one go before other connections get a turn. A client can send millions at once. */
const messagesPerTurn = 256;

type Message = StartMessage | FrontendMessage;

/** What is being answered. */
interface Happening {
  readonly message: Message | undefined;
  readonly violation: Violation | undefined;
}

const nothing: Happening = { message: undefined, violation: undefined };

/** Serves the connection; resolves when it is over and everything it held is given back. */
export async function converse(connection: Connection, parts: ConversationParts): Promise<void> {
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
  readonly #connection: Connection;
  readonly #parts: ConversationParts;
  readonly #reader = new FrameReader();
  readonly #out: Outbox;
  #phase: Phase = "start";
  #opening: Opening | undefined;
  #desk: Desk | undefined;
  #wake: (() => void) | undefined;
  #paused = false;
  /** An error that ends the connection was sent: what else the table says is left undone. */
  #over = false;

  constructor(connection: Connection, parts: ConversationParts) {
    this.#connection = connection;
    this.#parts = parts;
    this.#out = new Outbox((bytes) => connection.send(bytes));
    connection.closed.addEventListener("abort", () => this.#left(), { once: true });
    this.#listen();
  }

  async run(): Promise<void> {
    let handled = 0;
    while (this.#phase !== "closed" && !this.#connection.closed.aborted) {
      if (this.#phase === "start" && this.#reader.peek() === tlsHandshake) {
        if (!(await this.#startTls())) return;
        continue;
      }
      const step = this.#reader.next(this.#rule());
      handled = step.kind === "wait" ? 0 : handled + 1;
      if (handled % messagesPerTurn === messagesPerTurn - 1) await setImmediate();
      if (step.kind === "wait") {
        await this.#moreBytes();
      } else if (step.kind === "violation") {
        await this.#happen("violation", { message: undefined, violation: step.violation });
      } else {
        const parsed = beforeStart(this.#phase)
          ? parseStart(step.frame.body)
          : parseFrontend(step.frame);
        if (parsed.kind === "message") await this.#receive(parsed.message);
        else
          await this.#happen(violationInput(parsed.violation, this.#phase), {
            message: undefined,
            violation: parsed.violation,
          });
      }
    }
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
    const maxBytes = this.#phase === "login" ? loginBytesMax : maxMessageBytes;
    return { types: frontendTypes, maxBytes: Math.min(maxBytes, maxMessageBytes) };
  }

  #listen(): void {
    this.#connection.socket.on("data", (chunk: Buffer) => {
      this.#reader.push(chunk);
      // A whole message is there for certain: the client waits until it was answered.
      if (this.#reader.pending > this.#rule().maxBytes + readAheadBytes) {
        this.#paused = true;
        this.#connection.socket.pause();
      }
      this.#wake?.();
    });
  }

  #left(): void {
    this.#desk?.leave();
    this.#wake?.();
  }

  /** Waits until more has come or the client is gone. */
  async #moreBytes(): Promise<void> {
    if (this.#paused) {
      this.#paused = false;
      this.#connection.socket.resume();
    }
    const resting = this.#phase === "idle" && this.#desk?.resting === true;
    if (resting) this.#connection.idle(true);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#connection.closed.aborted) resolve();
    });
    this.#wake = undefined;
    if (resting) this.#connection.idle(false);
  }

  async #receive(message: Message): Promise<void> {
    if (this.#desk !== undefined && isTyped(message)) {
      const failure = await this.#desk.settle(message);
      if (failure !== undefined) await this.#fail(failure.error, failure.place);
    }
    await this.#happen(message.kind, { message, violation: undefined });
  }

  /** Takes the step of the table and performs its effects. */
  async #happen(input: Input, happening: Happening): Promise<void> {
    const before = this.#phase;
    const { next, effects } = advance(before, input);
    this.#phase = next;
    for (const effect of effects) {
      await this.#perform(effect, happening, before);
      if (this.#over || this.#connection.closed.aborted) return;
    }
    if (this.#out.full) await this.#out.flush();
  }

  async #perform(effect: Effect, { message, violation }: Happening, before: Phase): Promise<void> {
    switch (effect) {
      case "answerSsl":
        return await this.#answerSsl();
      case "answerGss":
        this.#out.writer.u8(encryptionRefused);
        return await this.#out.flush();
      case "cancel":
        if (message?.kind === "cancelRequest") this.#parts.keys.present(message);
        return;
      case "start":
        if (message?.kind === "startup") await this.#start(message);
        return;
      case "checkPassword":
        if (message?.kind === "password") await this.#checkPassword(message.body);
        return;
      case "ready":
        this.#desk?.ready();
        return;
      case "flush":
        return await this.#out.flush();
      case "refuse":
        return await this.#fatal(violationError(violation, before));
      case "reportText":
        return await this.#fail(encodingError(), {});
      case "refuseFunction":
        return await this.#fail(functionError(), {});
      case "hangUp":
        await this.#out.flush();
        this.#connection.end();
        return;
      case "query":
      case "parse":
      case "bind":
      case "describe":
      case "execute":
      case "close":
      case "sync": {
        if (message === undefined || !isTyped(message)) return;
        const failure = await this.#desk?.perform(message);
        if (failure !== undefined) await this.#fail(failure.error, failure.place);
      }
    }
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
    if (this.#reader.pending > 0) {
      return await this.#fatal(protocolError("received unencrypted data after SSL request"));
    }
    this.#out.writer.u8(sslAccepted);
    await this.#out.flush();
    // The client may have begun its handshake while the answer was on its way.
    if (!(await this.#upgrade(this.#reader.rest()))) this.#phase = "closed";
  }

  /** TLS without asking. Refused by silence where there is no certificate: the client speaks TLS only. */
  async #startTls(): Promise<boolean> {
    if (!this.#connection.canUpgrade) return false;
    this.#phase = "afterBoth";
    return await this.#upgrade(this.#reader.rest());
  }

  async #upgrade(rest: Uint8Array): Promise<boolean> {
    const secured = await this.#connection.upgrade(rest);
    if (secured === undefined) return false;
    this.#listen();
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
    if (!this.#parts.door.asksPassword) return await this.#login(undefined);
    if (!mayTakeCredentials(this.#connection))
      return await this.#fatal(gatewayError("auth.cleartext"));
    this.#out.put({ kind: "authenticationCleartext" });
    await this.#happen("passwordWanted", nothing);
  }

  async #checkPassword(body: Uint8Array): Promise<void> {
    const password = parsePassword(body);
    if (password === undefined) {
      return await this.#fatal(violationError({ kind: "malformed", what: "Password" }, "login"));
    }
    await this.#login(new Secret(password));
  }

  async #login(password: Secret | undefined): Promise<void> {
    const { door } = this.#parts;
    const opening = this.#opening;
    if (opening === undefined) throw new Error("a login without a start-up packet");
    const { user, minor } = opening;
    const presented =
      password === undefined
        ? ({ kind: "nothing", user } as const)
        : ({ kind: "password", user, password } as const);
    const { address } = this.#connection;
    const login = await door.authenticate(presented, { frontend: frontendKind, address });
    if (this.#connection.closed.aborted) return;
    if (!login.ok) {
      const error = login.error.code === "auth.refused" ? passwordError(user) : login.error;
      return await this.#fatal(error);
    }
    const keyBytes = minor >= 2 ? secretBytes.long : secretBytes.short;
    this.#desk = new Desk({
      ...this.#parts,
      out: this.#out,
      session: openSession(opening, login.value, address, door),
      keyBytes,
      maxMessageBytes: this.#connection.config.maxMessageBytes,
    });
    this.#opening = undefined;
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
