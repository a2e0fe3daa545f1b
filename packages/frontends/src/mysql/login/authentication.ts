/**
 * How a client proves who it is, step by step. Pure: each step is the connection's next state and effects.
 *
 * It is always the full form of `caching_sha2_password`: its fast form needs a hash that neither bcrypt
 * nor a directory gives. The password travels over TLS, or encrypted with our key.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login, Presented } from "@gateway/core/port/authenticator.ts";
import type { Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { ChangeUser, HandshakeResponse } from "@gateway/wire/mysql/handshake.ts";
import type { Packet } from "@gateway/wire/mysql/packetReader.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { errorReply, ownErrors } from "../errors.ts";
import type { Claim, Effect, MachineContext, Step } from "../machine.ts";
import { ciphertextBytes, passwordText } from "./passwordKey.ts";

/** Plugins by name. A client that proposes another one is switched to the first. */
export const authPlugin = {
  sha2: "caching_sha2_password",
  native: "mysql_native_password",
  clear: "mysql_clear_password",
} as const;

/** Bytes of the plugin's own little protocol. Source: MySQL `sql/auth/sha2_password_common.h`. */
const sha2 = { requestKey: 0x02, fastOk: 0x03, fullAuthentication: 0x04 } as const;

/** The first step of a login: decides by the plugin that the client already used. */
export function login(
  claim: Claim,
  message: HandshakeResponse | ChangeUser,
  sequence: number,
  context: MachineContext,
): Step {
  const { plugin, authData } = message;
  if (context.refusal !== undefined) return refuse(errorReply(context.refusal));
  if (plugin === authPlugin.sha2) return onSha2Scramble(claim, authData, sequence, context);

  const known = knownOf(claim, context);
  if (known !== undefined) {
    const expectsOk =
      plugin === undefined || plugin === authPlugin.native || plugin === authPlugin.clear;
    return expectsOk ? verify(claim, known) : askForSha2(claim, sequence);
  }
  if (plugin === authPlugin.clear) {
    return verifyClear(claim, authData, context);
  }
  const canSwitch = (claim.capabilities & capability.pluginAuth) !== 0;
  return canSwitch ? askForSha2(claim, sequence) : refuse(ownErrors.clientTooOld());
}

function askForSha2(claim: Claim, sequence: number): Step {
  return [{ kind: "switching", claim, sequence: after(sequence) }, [{ kind: "sendAuthSwitch" }]];
}

/** The client's hash of the password. It shows only whether there is a password at all. */
export function onSha2Scramble(
  claim: Claim,
  scramble: Uint8Array,
  sequence: number,
  context: MachineContext,
): Step {
  const empty = scramble.length === 0 || (scramble.length === 1 && scramble[0] === 0);
  const known = knownOf(claim, context);
  if (empty) return verify(claim, known ?? nothingOf(claim));
  if (known !== undefined) {
    const [state, effects] = verify(claim, known);
    return [state, [moreData(sha2.fastOk), ...effects]];
  }
  return [
    { kind: "challenged", claim, sequence: after(sequence) },
    [moreData(sha2.fullAuthentication)],
  ];
}

/** The password, in clear or encrypted. MariaDB's library and others send it in clear without TLS, too. */
export function onPassword(claim: Claim, packet: Packet, context: MachineContext): Step {
  const { payload } = packet;
  if (claim.secure) return verifyClear(claim, payload, context);
  if (payload.length === 1 && payload[0] === sha2.requestKey) {
    return [
      { kind: "keySent", claim, sequence: after(packet.lastSequence) },
      [{ kind: "sendPublicKey" }],
    ];
  }
  if (payload.length !== ciphertextBytes) return verifyClear(claim, payload, context);
  return [{ kind: "opening", claim }, [{ kind: "open", ciphertext: payload }]];
}

/** The encrypted password was opened; undefined when it was not made for us. */
export function onOpened(claim: Claim, password: string | undefined): Step {
  return password === undefined
    ? refuseLogin(claim, "auth.refused")
    : verify(claim, passwordOf(claim, password));
}

function verifyClear(claim: Claim, bytes: Uint8Array, context: MachineContext): Step {
  if (!claim.secure && !context.takesCleartext) {
    return refuseLogin(claim, "auth.cleartext");
  }
  const password = passwordText(bytes);
  if (password === undefined) return refuseLogin(claim, "auth.refused");
  return verify(claim, passwordOf(claim, password));
}

function verify(claim: Claim, presented: Presented): Step {
  return [{ kind: "verifying", claim }, [{ kind: "authenticate", presented }]];
}

/** The door judged what was shown. */
export function onVerified(claim: Claim, result: Result<Login, GatewayError>): Step {
  if (!result.ok) return refuse(errorReply(result.error));
  return [{ kind: "entering", claim }, [{ kind: "enter", claim, login: result.value }]];
}

/** What identifies the client without a password; undefined when it must be asked for one. */
function knownOf(
  claim: Claim,
  { asksPassword, certificateNames: names }: MachineContext,
): Presented | undefined {
  if (!asksPassword) return nothingOf(claim);
  return names.length === 0 ? undefined : { kind: "certificate", user: claim.user, names };
}

function nothingOf(claim: Claim): Presented {
  return { kind: "nothing", user: claim.user === "" ? undefined : claim.user, asked: true };
}

function passwordOf(claim: Claim, password: string): Presented {
  return { kind: "password", user: claim.user, password: new Secret(password) };
}

function moreData(byte: number): Effect {
  return { kind: "sendMoreData", bytes: Uint8Array.of(byte) };
}

/** The number of the client's packet behind one of ours. */
function after(sequence: number): number {
  return (sequence + 2) & 0xff;
}

/** Refuses a password that the door can not judge, and tells the door. */
function refuseLogin({ user }: Claim, code: ErrorCode): Step {
  const [state, effects] = refuse(errorReply(gatewayError(code)));
  return [state, [...effects, { kind: "noteRefusal", code, user }]];
}

/** Tells the client why, and ends the connection. */
export function refuse(reply: ErrorReply): Step {
  return [{ kind: "closed" }, [{ kind: "sendError", reply }, { kind: "close" }]];
}
