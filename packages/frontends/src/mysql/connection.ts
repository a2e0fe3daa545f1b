/**
 * One MySQL client: bytes in, machine, effects, bytes out.
 *
 * Reads all the time, because a client that left is noticed by reading only; commands that come ahead
 * wait in the packet reader, and beyond a limit nothing more is read until they were performed.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Login, Presented, PresentedAt } from "@gateway/core/port/authenticator.ts";
import {
  putAuthMoreData,
  putAuthSwitch,
  putGreeting,
  type Greeting,
} from "@gateway/wire/mysql/handshake.ts";
import type { Packet, SkippedPacket } from "@gateway/wire/mysql/packetReader.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import type { Violation } from "@gateway/wire/mysql/protocol.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import { mayTakeCredentials } from "../listener/tls.ts";
import { Channel } from "./channel.ts";
import { idleMsOf, openClientSession } from "./session/clientSession.ts";
import { codecOf } from "./compression.ts";
import { Conversation } from "./run/conversation.ts";
import { Cursors } from "./run/cursor.ts";
import { putErrorPacket } from "./encode.ts";
import { pipelinedBytesMax } from "./limits.ts";
import {
  advance,
  authPlugin,
  awaitsPacket,
  greeted,
  type Claim,
  type Effect,
  type MachineContext,
  type Message,
  type RunnableCommand,
  type State,
} from "./machine.ts";
import type { Member, Members } from "./run/members.ts";
import { cipherOf, frontendKind, greetingOf, sessionOf } from "./login/opening.ts";
import type { PasswordKey } from "./login/passwordKey.ts";
import { PreparedStatements } from "./run/prepared.ts";
import type { TextReader } from "./read/reading.ts";
import { Runner } from "./run/runner.ts";
import { abandon } from "./run/transaction.ts";

/** What all connections of a listener share. */
export interface ListenerParts {
  readonly door: Door;
  readonly host: Host;
  readonly members: Members;
  /** The listener's key, made when it is first asked for. */
  readonly passwordKey: () => Promise<PasswordKey>;
  readonly startedMs: number;
  readonly read: TextReader;
  readonly port: () => number;
}

/** Serves one connection until it ends. */
export class MysqlConnection implements Member {
  readonly #connection: FollowedConnection;
  readonly #parts: ListenerParts;
  readonly #id: number;
  readonly #greeting: Greeting;
  readonly #channel: Channel;
  /** For packets of the connection phase; afterwards the conversation's own. */
  readonly #greetingOut = new PacketWriter();
  readonly #prepared: PreparedStatements;
  readonly #cursors = new Cursors();
  #state: State = greeted;
  #certificateNames: readonly string[] = [];
  #talk: Conversation | undefined;
  #runner: Runner | undefined;
  #paused = false;
  /** True while something sent from here has not left. */
  #blocked = false;
  /** True while a large compressed frame is being opened. */
  #opening = false;
  /** True while a command is performed, also when the connection was closed meanwhile. */
  #working = false;
  /** True while `#pump` is on the stack, so that effects do not start it again. */
  #pumping = false;

  constructor(connection: FollowedConnection, parts: ListenerParts) {
    this.#connection = connection;
    this.#parts = parts;
    this.#channel = new Channel(connection);
    this.#prepared = new PreparedStatements(connection.config.maxMessageBytes);
    this.#id = parts.members.join(this);
    this.#greeting = greetingOf(connection, this.#id, parts.host);
  }

  get user(): string | undefined {
    return this.#talk?.client.session.identity.user;
  }

  get address(): string {
    return this.#connection.address;
  }

  get database(): string | undefined {
    return this.#talk?.client.session.schema;
  }

  get running(): string | undefined {
    return this.#talk?.running;
  }

  get queryId(): Member["queryId"] {
    return this.#talk?.queryId;
  }

  get sinceMs(): number {
    return this.#talk?.sinceMs ?? this.#parts.startedMs;
  }

  cancel(): void {
    this.#talk?.cancel(gatewayError("query.cancelled"));
  }

  close(): void {
    this.#state = { kind: "closed" };
    this.#connection.end();
  }

  closeIdle(nowMs: number): void {
    const talk = this.#talk;
    if (talk === undefined || this.#working) return;
    if (nowMs - talk.sinceMs < idleMsOf(talk.client)) return;
    // Nobody asked, so the packet begins a sequence of its own.
    talk.out.sequence = 0;
    this.#resume({ kind: "idle" });
  }

  /** Greets, then serves whatever comes. Returns at once; ends with the connection. */
  start(): void {
    this.#connection.whenOver(() => this.#gone());
    this.#listen();
    this.#send((out) => putGreeting(out, this.#greeting));
  }

  /** The client left or was cut off: what it runs and holds ends now. */
  #gone(): void {
    this.#parts.members.leave(this.#id);
    this.cancel();
    const talk = this.#talk;
    // A running command ends its own statement first; the transaction is given back behind it.
    if (talk !== undefined && !this.#working) this.#background(this.#giveBack(talk));
  }

  /** What the session holds between two commands. */
  async #giveBack(talk: Conversation): Promise<void> {
    await this.#cursors.clear();
    await abandon(talk);
  }

  #listen(): void {
    this.#connection.socket.on("data", (chunk: Buffer) => {
      this.#channel.push(chunk);
      this.#pump();
      this.#holdBack();
    });
  }

  /** Feeds packets to the machine as long as it wants them. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#takesPackets) {
        const step = this.#channel.next();
        if (step instanceof Promise) {
          this.#background(this.#reopen(step));
          break;
        }
        if (step.kind === "more") break;
        this.#out.sequence = this.#answerSequence(step);
        this.#handle(step);
      }
    } finally {
      this.#pumping = false;
    }
  }

  /** False while something is under way, or the client does not take what it was sent. */
  get #takesPackets(): boolean {
    return !this.#blocked && !this.#opening && awaitsPacket(this.#state);
  }

  async #reopen(opened: Promise<void>): Promise<void> {
    this.#opening = true;
    await opened;
    this.#opening = false;
    this.#pump();
    this.#holdBack();
  }

  /** Our next packet's number: behind the client's, which a refused one did not tell. */
  #answerSequence(step: Packet | SkippedPacket | Violation): number {
    if (step.kind !== "violation") return (step.lastSequence + 1) & 0xff;
    return this.#state.kind === "ready" ? 1 : (this.#out.sequence + 1) & 0xff;
  }

  /** Stops reading when too much waits, and goes on when it was taken. */
  #holdBack(): void {
    const { socket } = this.#connection;
    const waits = !this.#takesPackets && this.#channel.bufferedBytes > pipelinedBytesMax;
    if (waits === this.#paused) return;
    this.#paused = waits;
    socket[waits ? "pause" : "resume"]();
  }

  #handle(message: Message): void {
    const [state, effects] = advance(this.#state, message, this.#context());
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  }

  /** The answer to something that took time. */
  #resume(message: Message): void {
    this.#handle(message);
    this.#pump();
    this.#holdBack();
  }

  #context(): MachineContext {
    return {
      capabilities: this.#greeting.capabilities,
      asksPassword: this.#parts.door.asksPassword,
      takesCleartext: mayTakeCredentials(this.#connection),
      certificateNames: this.#certificateNames,
      refusal: this.#connection.draining ? gatewayError("gateway.draining") : undefined,
    };
  }

  #perform(effect: Effect): void {
    const { door } = this.#parts;
    switch (effect.kind) {
      case "upgrade":
        return this.#background(this.#upgrade());
      case "sendAuthSwitch":
        return this.#send((out) => putAuthSwitch(out, authPlugin.sha2, this.#greeting.nonce));
      case "sendMoreData":
        return this.#send((out) => putAuthMoreData(out, effect.bytes));
      case "sendPublicKey":
        return this.#background(this.#sendPublicKey());
      case "open":
        return this.#background(this.#open(effect.ciphertext));
      case "authenticate":
        return this.#background(this.#authenticate(effect.presented));
      case "noteRefusal":
        return door.refused(effect.code, { kind: "password", user: effect.user }, this.#at);
      case "leave":
        return this.#leave();
      case "enter":
        return this.#enter(effect.claim, effect.login);
      case "welcome":
        return this.#welcome();
      case "run":
        return this.#run(effect.command);
      case "sendError":
        putErrorPacket(this.#out, effect.reply);
        return this.#flushOut();
      case "close":
        return this.#connection.end();
    }
  }

  get #out(): PacketWriter {
    return this.#talk?.out ?? this.#greetingOut;
  }

  #send(put: (out: PacketWriter) => void): void {
    const out = this.#out;
    out.begin();
    put(out);
    out.end();
    this.#flushOut();
  }

  /** Sends a small packet; the next of the client is not looked at before it took this one. */
  #flushOut(): void {
    const leaving = this.#channel.send(this.#out.release());
    if (leaving === undefined) return;
    this.#blocked = true;
    this.#background(this.#unblock(leaving));
  }

  async #unblock(leaving: Promise<void>): Promise<void> {
    await leaving;
    this.#blocked = false;
    this.#pump();
    this.#holdBack();
  }

  async #upgrade(): Promise<void> {
    const secured = await this.#connection.upgrade(this.#channel.takeRest());
    if (secured === undefined) return;
    this.#certificateNames = this.#connection.certificateNames();
    this.#listen();
    this.#resume({ kind: "secured" });
  }

  async #sendPublicKey(): Promise<void> {
    const key = await this.#parts.passwordKey();
    this.#send((out) => putAuthMoreData(out, Buffer.from(key.publicPem)));
  }

  async #open(ciphertext: Uint8Array): Promise<void> {
    const key = await this.#parts.passwordKey();
    const password = await key.open(ciphertext, this.#greeting.nonce);
    this.#resume({ kind: "opened", password });
  }

  async #authenticate(presented: Presented): Promise<void> {
    this.#connection.credentialShown();
    const result = await this.#parts.door.authenticate(presented, this.#at);
    this.#resume({ kind: "verified", result });
  }

  get #at(): PresentedAt {
    return { frontend: frontendKind, address: this.#connection.address };
  }

  /** Another user is about to enter: nothing of the old session remains. */
  #leave(): void {
    const talk = this.#talk;
    this.#prepared.clear();
    if (talk !== undefined) this.#background(this.#giveBack(talk));
  }

  #enter(claim: Claim, login: Login): void {
    const { door, host, members, startedMs, port, read } = this.#parts;
    const connection = this.#connection;
    const session = sessionOf(claim, login, connection.address);
    const client = openClientSession(session, claim, this.#id);
    const talk = new Conversation({ door, host, connection, channel: this.#channel }, client);
    talk.out.sequence = this.#out.sequence;
    this.#talk = talk;
    const tls = connection.canUpgrade || connection.secure;
    const server = { port: port(), tls, startedMs, cipher: cipherOf(connection) };
    const [prepared, cursors] = [this.#prepared, this.#cursors];
    this.#runner = new Runner({ talk, read, prepared, cursors, members, initial: client, server });
    if (claim.database === undefined) {
      this.#resume({ kind: "entered", refusal: undefined });
      return;
    }
    this.#background(this.#findDatabase(this.#runner));
  }

  async #findDatabase(runner: Runner): Promise<void> {
    const refusal = await runner.findDatabase();
    if (!this.#connection.over) this.#resume({ kind: "entered", refusal });
  }

  #welcome(): void {
    const connection = this.#connection;
    this.#talk?.putOk();
    this.#flushOut();
    if (this.#state.kind === "ready") {
      const { capabilities, zstdLevel } = this.#state.claim;
      // From the first packet behind the OK.
      const codec = codecOf(capabilities, zstdLevel);
      this.#channel.admit(connection.config, codec);
    }
    connection.handshakeDone();
    connection.idle(true);
  }

  #run(command: RunnableCommand): void {
    const runner = this.#runner;
    if (runner === undefined) throw new Error("a command before the login");
    this.#connection.idle(false);
    this.#working = true;
    this.#background(this.#finish(runner.run(command)));
  }

  async #finish(running: Promise<void>): Promise<void> {
    await running;
    this.#working = false;
    const talk = this.#talk;
    if (this.#connection.over) {
      if (talk !== undefined) await this.#giveBack(talk);
      return;
    }
    this.#resume({ kind: "finished" });
    // Only when nothing came ahead: a drain closes an idle connection.
    if (this.#state.kind === "ready") this.#connection.idle(true);
  }

  /** A rejection is a bug: it is logged, and this connection alone ends. */
  #background(task: Promise<unknown>): void {
    task.catch((bug: unknown) => {
      this.#parts.host.log.bug(bug, { listener: frontendKind });
      this.#connection.destroy();
    });
  }
}
