/**
 * One MySQL client: packets in, machine, effects, packets out.
 *
 * What comes in is read by `inbox.ts`, what may come when stands in `machine.ts`, and commands are
 * performed in `run/`.
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
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import { Channel } from "./channel.ts";
import { Circumstances } from "./circumstances.ts";
import { idleMsOf, openClientSession } from "./session/clientSession.ts";
import { codecOf } from "./compression.ts";
import { Responder } from "./run/responder.ts";
import { Cursors } from "./run/cursor.ts";
import { findDatabase } from "./run/database.ts";
import { putErrorPacket } from "./encode.ts";
import { Inbox, type Received } from "./inbox.ts";
import { fileOf, type LocalFile } from "./localFile.ts";
import { LongPackets } from "./longPackets.ts";
import {
  advance,
  awaitsPacket,
  busyWith,
  commandIn,
  finishedFrom,
  greeted,
  type Claim,
  type Effect,
  type Message,
  type RunnableCommand,
  type State,
} from "./machine.ts";
import type { Member, Members } from "./run/members.ts";
import { authPlugin } from "./login/authentication.ts";
import { cipherOf, frontendKind, greetingOf, sessionOf } from "./login/opening.ts";
import type { PasswordKey } from "./login/passwordKey.ts";
import { PreparedStatements } from "./run/prepared.ts";
import type { TextReader } from "./read/reading.ts";
import { Dispatcher } from "./run/dispatcher.ts";
import { AskedResult } from "./run/resultSet.ts";
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
  readonly #inbox: Inbox;
  readonly #long: LongPackets;
  /** For packets of the connection phase; afterwards the responder has its own. */
  readonly #greetingOut = new PacketWriter();
  readonly #prepared: PreparedStatements;
  readonly #cursors = new Cursors();
  readonly #circumstances: Circumstances;
  #state: State = greeted;
  #responder: Responder | undefined;
  #dispatcher: Dispatcher | undefined;
  #file: LocalFile | undefined;
  /** True while something sent from here has not left. */
  #blocked = false;
  /** True while a command is performed, also when the connection was closed meanwhile. */
  #working = false;

  constructor(connection: FollowedConnection, parts: ListenerParts) {
    this.#connection = connection;
    this.#parts = parts;
    this.#long = new LongPackets(connection, parts.host);
    this.#channel = new Channel(connection);
    this.#inbox = new Inbox({
      connection,
      channel: this.#channel,
      wants: () => !this.#blocked && (awaitsPacket(this.#state) || this.#file?.wants === true),
      take: (received) => this.#take(received),
      judge: (packet) => this.#long.judge(packet, this.#responder),
      background: (task) => this.#background(task),
    });
    this.#prepared = new PreparedStatements(connection.config.maxMessageBytes);
    this.#id = parts.members.join(this);
    this.#greeting = greetingOf(connection, this.#id, parts);
    this.#circumstances = new Circumstances(this.#greeting, parts.door, connection);
  }

  get user(): string | undefined {
    return this.#responder?.client.session.identity.user;
  }

  get address(): string {
    return this.#connection.address;
  }

  get database(): string | undefined {
    return this.#responder?.client.session.schema;
  }

  get running(): string | undefined {
    return this.#responder?.running;
  }

  get queryId(): Member["queryId"] {
    return this.#responder?.queryId;
  }

  get sinceMs(): number {
    return this.#responder?.sinceMs ?? this.#parts.startedMs;
  }

  cancel(): void {
    this.#responder?.cancel(gatewayError("query.cancelled"));
  }

  close(): void {
    this.#state = { kind: "closed" };
    this.#connection.end();
  }

  closeIdle(nowMs: number): void {
    const responder = this.#responder;
    if (responder === undefined || this.#working) return;
    if (nowMs - responder.sinceMs < idleMsOf(responder.client)) return;
    // Nobody asked, so the packet begins a sequence of its own.
    responder.out.sequence = 0;
    this.#resume({ kind: "idle" });
  }

  /** Greets, then serves whatever comes. Returns at once; ends with the connection. */
  start(): void {
    this.#connection.whenOver(() => this.#gone());
    this.#inbox.listen();
    this.#send((out) => putGreeting(out, this.#greeting));
  }

  /** The client left or was cut off: what it runs and holds ends now. */
  #gone(): void {
    this.#parts.members.leave(this.#id);
    this.#long.leave();
    this.#file?.leave();
    this.cancel();
    const responder = this.#responder;
    // A running command ends its own statement first; the transaction is given back behind it.
    if (responder !== undefined && !this.#working) this.#background(this.#giveBack(responder));
  }

  /** What the session holds between two commands. */
  async #giveBack(responder: Responder): Promise<void> {
    await this.#cursors.clear();
    await abandon(responder);
    await responder.leaveHome();
  }

  #take(received: Received): void {
    if (this.#file?.open === true) {
      this.#file.take(received);
      if (received.kind === "packet") this.#out().sequence = (received.lastSequence + 1) & 0xff;
      // What is no packet of a file has no answer that the client would understand.
      else this.#connection.destroy();
      return;
    }
    this.#out().sequence = this.#answerSequence(received);
    const state = this.#state;
    const command = commandIn(state, received);
    if (command === undefined || state.kind !== "ready") return this.#handle(received);
    this.#state = busyWith(state);
    this.#run(command);
  }

  /** Our next packet's number: behind the client's, which a refused one did not tell. */
  #answerSequence(received: Received): number {
    if (received.kind !== "violation") return (received.lastSequence + 1) & 0xff;
    return this.#state.kind === "ready" ? 1 : (this.#out().sequence + 1) & 0xff;
  }

  #handle(message: Message): void {
    const [state, effects] = advance(this.#state, message, this.#circumstances);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  }

  /** The answer to something that took time. */
  #resume(message: Message): void {
    this.#handle(message);
    this.#inbox.resume();
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
        putErrorPacket(this.#out(), effect.reply, this.#responder?.encode);
        return this.#flushOut();
      case "close":
        return this.#connection.end();
    }
  }

  /** No getter: a private one is a call of the runtime each time. */
  #out(): PacketWriter {
    return this.#responder?.out ?? this.#greetingOut;
  }

  #send(put: (out: PacketWriter) => void): void {
    const out = this.#out();
    out.begin();
    put(out);
    out.end();
    this.#flushOut();
  }

  /** Sends a small packet; the next of the client is not looked at before it took this one. */
  #flushOut(): void {
    const leaving = this.#channel.send(this.#out().release());
    if (leaving === undefined) return;
    this.#blocked = true;
    this.#background(this.#unblock(leaving));
  }

  async #unblock(leaving: Promise<void>): Promise<void> {
    await leaving;
    this.#blocked = false;
    this.#inbox.resume();
  }

  async #upgrade(): Promise<void> {
    const secured = await this.#connection.upgrade(this.#channel.takeRest());
    if (secured === undefined) return;
    this.#circumstances.secured();
    this.#inbox.listen();
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
    const responder = this.#responder;
    this.#prepared.clear();
    if (responder !== undefined) this.#background(this.#giveBack(responder));
  }

  #enter(claim: Claim, login: Login): void {
    const { door, host, members, startedMs, port, read } = this.#parts;
    const connection = this.#connection;
    const session = sessionOf(claim, login, connection.address);
    const client = openClientSession(session, claim, this.#id);
    const responder = new Responder({ door, host, connection, channel: this.#channel }, client);
    responder.out.sequence = this.#out().sequence;
    this.#responder = responder;
    this.#file = fileOf(responder, () => this.#inbox.resume());
    responder.files = this.#file;
    const tls = connection.canUpgrade || connection.secure;
    const server = { port: port(), tls, startedMs, cipher: cipherOf(connection) };
    const [prepared, cursors] = [this.#prepared, this.#cursors];
    const dispatching = { responder, read, prepared, cursors, members, initial: client, server };
    this.#dispatcher = new Dispatcher(dispatching);
    if (claim.database === undefined) {
      this.#resume({ kind: "entered", refusal: undefined });
      return;
    }
    this.#background(this.#findDatabase(responder));
  }

  async #findDatabase(responder: Responder): Promise<void> {
    const refusal = await findDatabase(responder);
    if (!this.#connection.over) this.#resume({ kind: "entered", refusal });
  }

  #welcome(): void {
    const connection = this.#connection;
    this.#responder?.putOk();
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
    this.#long.arrived();
    const dispatcher = this.#dispatcher;
    if (dispatcher === undefined) throw new Error("a command before the login");
    this.#connection.idle(false);
    this.#working = true;
    void this.#finish(dispatcher, command);
  }

  /** One function, because each that waits costs a query half a microsecond. Never rejects. */
  async #finish(dispatcher: Dispatcher, command: RunnableCommand): Promise<void> {
    let asked: AskedResult | undefined;
    try {
      const running = dispatcher.run(command);
      if (running instanceof AskedResult) {
        asked = running;
        const putting = asked.put(await asked.answer);
        if (putting instanceof Promise) await putting;
      } else await running;
      const leaving = this.#responder?.finish();
      if (leaving !== undefined) await leaving;
      const ending = this.#finished();
      if (ending !== undefined) await ending;
    } catch (bug) {
      asked?.leave();
      this.#broke(bug);
    }
  }

  #finished(): Promise<void> | undefined {
    this.#working = false;
    this.#long.leave();
    const responder = this.#responder;
    if (this.#connection.over) return responder && this.#giveBack(responder);
    this.#state = finishedFrom(this.#state);
    this.#inbox.resume();
    // Only when nothing came ahead: a drain closes an idle connection.
    if (this.#state.kind === "ready") this.#connection.idle(true);
    return undefined;
  }

  /** A rejection is a bug. */
  #background(task: Promise<unknown>): void {
    task.catch((bug: unknown) => this.#broke(bug));
  }

  /** A bug is logged, and this connection alone ends. */
  #broke(bug: unknown): void {
    this.#parts.host.log.bug(bug, { listener: frontendKind });
    this.#connection.destroy();
  }
}
