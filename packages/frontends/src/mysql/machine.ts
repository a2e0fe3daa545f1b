/**
 * What may come when on one connection, from the greeting to the end, and what it leads to.
 *
 * Pure and total: every state answers every message. It performs nothing; `connection.ts` does. It knows
 * that one command runs at a time, and not what a command does. How a client proves who it is stands in
 * `login/authentication.ts`.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login, Presented } from "@gateway/core/port/authenticator.ts";
import type { Result } from "@gateway/core/result.ts";
import { parseCommand, type Command } from "@gateway/wire/mysql/command.ts";
import {
  parseHandshake,
  type ChangeUser,
  type HandshakeResponse,
} from "@gateway/wire/mysql/handshake.ts";
import type { Packet } from "@gateway/wire/mysql/packetReader.ts";
import { capability, commandCode, type Violation } from "@gateway/wire/mysql/protocol.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { charsetOf } from "./session/charset.ts";
import { errorReply, ownErrors, violationReply } from "./errors.ts";
import type { RefusedPacket } from "./inbox.ts";
import {
  login,
  onOpened,
  onPassword,
  onSha2Scramble,
  onVerified,
  refuse,
} from "./login/authentication.ts";

/** What holds for the whole connection. */
export interface MachineContext {
  /** Capabilities offered in the greeting. */
  readonly capabilities: number;
  /** MariaDB's own among them. */
  readonly mariadbCapabilities: number;
  /** False under provider `none`: the name is taken as it comes. */
  readonly asksPassword: boolean;
  /** Whether a password in clear is taken without TLS: on loopback, or where the config says so. */
  readonly takesCleartext: boolean;
  /** Names in the client's certificate, where the listener takes them; they come before a password. */
  readonly certificateNames: readonly string[];
  /** Why nobody may log in now. Told behind the handshake, because clients hide earlier errors. */
  readonly refusal: GatewayError | undefined;
}

/** Who a client says it is, and what it wants to begin with. */
export interface Claim {
  /** Agreed by both sides. */
  readonly capabilities: number;
  /** MariaDB's own, agreed in the same way. */
  readonly mariadbCapabilities: number;
  readonly secure: boolean;
  readonly user: string;
  readonly database: string | undefined;
  readonly collation: number;
  readonly attributes: ReadonlyMap<string, string>;
  /** The level that the client asks of zstd, where zstd was agreed on. */
  readonly zstdLevel: number | undefined;
}

/** `sequence` is the number the client's next packet must have. */
export type State =
  /** The greeting was sent. `secure` once TLS is up. */
  | { readonly kind: "greeted"; readonly secure: boolean; readonly sequence: number }
  | { readonly kind: "securing"; readonly sequence: number }
  /** Asked for another plugin. */
  | { readonly kind: "switching"; readonly claim: Claim; readonly sequence: number }
  /** Asked for the password itself. */
  | { readonly kind: "challenged"; readonly claim: Claim; readonly sequence: number }
  | { readonly kind: "keySent"; readonly claim: Claim; readonly sequence: number }
  | { readonly kind: "opening"; readonly claim: Claim }
  | { readonly kind: "verifying"; readonly claim: Claim }
  /** The login is done; its database is looked for. */
  | { readonly kind: "entering"; readonly claim: Claim }
  | { readonly kind: "ready"; readonly claim: Claim }
  | { readonly kind: "busy"; readonly claim: Claim }
  | { readonly kind: "closed" };

export type Message =
  | Packet
  | RefusedPacket
  | Violation
  /** TLS is up. */
  | { readonly kind: "secured" }
  /** The encrypted password was opened; undefined when it was not made for us. */
  | { readonly kind: "opened"; readonly password: string | undefined }
  | { readonly kind: "verified"; readonly result: Result<Login, GatewayError> }
  /** The session stands; `refusal` where it can not be what the client asked for. */
  | { readonly kind: "entered"; readonly refusal: ErrorReply | undefined }
  /** Nothing was asked for as long as the session allows. */
  | { readonly kind: "idle" }
  /** The running command's answer is written. */
  | { readonly kind: "finished" };

/** Commands that are more than a state: the dispatcher performs them. */
export type RunnableCommand = Exclude<Command, { kind: "quit" | "unknown" | "changeUser" }>;

/** In order. Those that send write one packet each. */
export type Effect =
  | { readonly kind: "upgrade" }
  | { readonly kind: "sendAuthSwitch" }
  | { readonly kind: "sendMoreData"; readonly bytes: Uint8Array }
  | { readonly kind: "sendPublicKey" }
  | { readonly kind: "open"; readonly ciphertext: Uint8Array }
  | { readonly kind: "authenticate"; readonly presented: Presented }
  /** The password was refused before the door could judge it; the door is told. */
  | { readonly kind: "noteRefusal"; readonly code: ErrorCode; readonly user: string }
  /** Another user logs in: what the old session holds is given back. */
  | { readonly kind: "leave" }
  /** The session begins, in the database the client named. */
  | { readonly kind: "enter"; readonly claim: Claim; readonly login: Login }
  /** An OK is sent; commands may come. */
  | { readonly kind: "welcome" }
  | { readonly kind: "run"; readonly command: RunnableCommand }
  | { readonly kind: "sendError"; readonly reply: ErrorReply }
  | { readonly kind: "close" };

export type Step = readonly [State, readonly Effect[]];

/** The state of a connection whose greeting, packet 0, was sent. */
export const greeted: State = { kind: "greeted", secure: false, sequence: 1 };

/** True when the state wants the client's next packet; in the others packets wait. */
export function awaitsPacket(state: State): boolean {
  switch (state.kind) {
    case "greeted":
    case "switching":
    case "challenged":
    case "keySent":
    case "ready":
      return true;
    case "securing":
    case "opening":
    case "verifying":
    case "entering":
    case "busy":
    case "closed":
      return false;
  }
}

/** The next state and what to do. A message that comes too late for its state changes nothing. */
export function advance(state: State, message: Message, context: MachineContext): Step {
  if (state.kind === "closed") return [state, []];
  switch (message.kind) {
    case "violation":
      return refuse(violationReply(message));
    case "packet":
      return onPacket(state, message, context);
    case "skipped":
      return onSkipped(state, message);
    case "secured":
      if (state.kind !== "securing") return [state, []];
      return [{ kind: "greeted", secure: true, sequence: state.sequence }, []];
    case "opened":
      if (state.kind !== "opening") return [state, []];
      return onOpened(state.claim, message.password);
    case "verified":
      return state.kind === "verifying" ? onVerified(state.claim, message.result) : [state, []];
    case "entered":
      if (state.kind !== "entering") return [state, []];
      return message.refusal === undefined
        ? [{ kind: "ready", claim: state.claim }, [{ kind: "welcome" }]]
        : refuse(message.refusal);
    case "idle":
      return state.kind === "ready" ? refuse(ownErrors.idleTooLong()) : [state, []];
    case "finished":
      return [finishedFrom(state), []];
  }
}

/**
 * The text to run that a packet brings, which is what nearly all packets are; undefined where `advance` has to see. It
 * leads to the same, without lists of what there is to do.
 */
export function commandIn(state: State, message: Message): RunnableCommand | undefined {
  if (state.kind !== "ready" || message.kind !== "packet" || message.sequence !== 0)
    return undefined;
  if (message.payload[0] !== commandCode.query) return undefined;
  const command = parseCommand(message.payload, state.claim.capabilities);
  return command.kind === "query" ? command : undefined;
}

export function busyWith({ claim }: Extract<State, { kind: "ready" }>): State {
  return { kind: "busy", claim };
}

/** The state once the running command's answer is written. */
export function finishedFrom(state: State): State {
  return state.kind === "busy" ? { kind: "ready", claim: state.claim } : state;
}

function onPacket(
  state: Exclude<State, { kind: "closed" }>,
  packet: Packet,
  context: MachineContext,
): Step {
  const expected = "sequence" in state ? state.sequence : 0;
  if (packet.sequence !== expected) return refuse(ownErrors.outOfOrder());
  switch (state.kind) {
    case "greeted":
      return onHandshake(state.secure, packet, context);
    case "switching":
      return onSha2Scramble(state.claim, packet.payload, packet.lastSequence, context);
    case "challenged":
      return onPassword(state.claim, packet, context);
    case "keySent":
      return [
        { kind: "opening", claim: state.claim },
        [{ kind: "open", ciphertext: packet.payload }],
      ];
    case "ready":
      return onCommand(state.claim, packet, context);
    case "securing":
    case "opening":
    case "verifying":
    case "entering":
    case "busy":
      return refuse(ownErrors.outOfOrder());
  }
}

/** A packet over the limit. The session goes on after a text; a login with so long a password ends. */
function onSkipped(
  state: Exclude<State, { kind: "closed" }>,
  { sequence, reply }: RefusedPacket,
): Step {
  if (state.kind !== "ready") return refuse(errorReply(gatewayError("protocol.tooLarge")));
  if (sequence !== 0) return refuse(ownErrors.outOfOrder());
  return [state, [{ kind: "sendError", reply }]];
}

function onHandshake(secure: boolean, packet: Packet, context: MachineContext): Step {
  const message = parseHandshake(packet.payload);
  switch (message.kind) {
    case "violation":
      return refuse(ownErrors.badHandshake());
    case "sslRequest": {
      const offered = (context.capabilities & capability.ssl) !== 0;
      if (secure || !offered) return refuse(ownErrors.badHandshake());
      return [{ kind: "securing", sequence: packet.lastSequence + 1 }, [{ kind: "upgrade" }]];
    }
    case "handshakeResponse": {
      // The flag promises that TLS comes before anything else.
      if (!secure && (message.capabilities & capability.ssl) !== 0) {
        return refuse(ownErrors.badHandshake());
      }
      const capabilities = message.capabilities & context.capabilities;
      const mariadbCapabilities = message.mariadbCapabilities & context.mariadbCapabilities;
      const { collation, zstdLevel } = message;
      const agreed = { capabilities, mariadbCapabilities };
      const claim = claimOf(message, { ...agreed, secure, collation, zstdLevel });
      return claim === undefined
        ? refuse(ownErrors.badHandshake())
        : login(claim, message, packet.lastSequence, context);
    }
  }
}

function onCommand(claim: Claim, packet: Packet, context: MachineContext): Step {
  const command = parseCommand(packet.payload, claim.capabilities);
  const ready: State = { kind: "ready", claim };
  switch (command.kind) {
    case "violation":
      // The frame is sound, so the connection goes on, as it does on a MySQL server.
      return [ready, [{ kind: "sendError", reply: violationReply(command) }]];
    case "quit":
      return [{ kind: "closed" }, [{ kind: "close" }]];
    case "unknown":
      return [ready, [{ kind: "sendError", reply: ownErrors.unknownCommand() }]];
    case "changeUser": {
      const collation = command.collation ?? claim.collation;
      const next = claimOf(command, { ...claim, collation });
      if (next === undefined) return refuse(ownErrors.badHandshake());
      const [state, effects] = login(next, command, packet.lastSequence, context);
      return [state, [{ kind: "leave" }, ...effects]];
    }
    default:
      return [{ kind: "busy", claim }, [{ kind: "run", command }]];
  }
}

/** Undefined when a name is not text in the client's character set, so that nobody has it. */
function claimOf(
  message: HandshakeResponse | ChangeUser,
  known: Pick<Claim, "capabilities" | "mariadbCapabilities" | "secure" | "collation" | "zstdLevel">,
): Claim | undefined {
  const { decode } = charsetOf(known.collation);
  const user = decode(message.user);
  const database = message.database === undefined ? "" : decode(message.database);
  if (user === undefined || database === undefined) return undefined;
  return {
    capabilities: known.capabilities,
    mariadbCapabilities: known.mariadbCapabilities,
    secure: known.secure,
    user,
    database: database === "" ? undefined : database,
    collation: known.collation,
    attributes: message.attributes,
    zstdLevel: known.zstdLevel,
  };
}
