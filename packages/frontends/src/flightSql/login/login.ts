/** Who made a call. Every call proves it anew: the door judges the credential. */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login, Presented, PresentedAt } from "@gateway/core/port/authenticator.ts";
import { err, type Result } from "@gateway/core/result.ts";
import type { RelayedClient } from "../../listener/elsewhere.ts";
import { presentedBy } from "./identity.ts";
import type { Tokens } from "./tokens.ts";

/** What of a call a login needs. */
export interface LoginCall {
  readonly peer: Pick<RelayedClient, "address" | "mayTakeCredentials" | "certificateNames">;
  header(name: string): readonly string[];
  answerHeader(name: string, value: string): void;
}

type LoginDoor = Pick<Door, "authenticate" | "refused">;

/** How long a call waits for a first configuration before it is told to come again. */
const patienceMs = 2_000;

/**
 * Judges the credential of a call; `shown` stands for the header where the client showed it in a message. The
 * answer to a password carries the token that may be sent in its place.
 */
export async function logIn(
  door: LoginDoor,
  call: LoginCall,
  tokens: Tokens,
  shown?: Presented,
): Promise<Result<Login, GatewayError>> {
  const { peer } = call;
  const header = call.header("authorization");
  const presented = presentedBy(header, peer.certificateNames, tokens);
  if (!presented.ok) return refused(door, peer, presented.error, "nothing");
  const given = header.length === 0 && shown !== undefined ? shown : presented.value;
  if (given.kind !== "nothing" && given.kind !== "certificate" && !peer.mayTakeCredentials) {
    return refused(door, peer, gatewayError("auth.cleartext"), given.kind);
  }
  const login = await door.authenticate(given, presentedAt(peer));
  if (login.ok) giveToken(given, call, tokens);
  return login;
}

function giveToken(given: Presented, call: LoginCall, tokens: Tokens): void {
  if (given.kind !== "password") return;
  const [header = ""] = call.header("authorization");
  // Who sends a token keeps it: a new one in each answer would only cost.
  if (header.toLowerCase().startsWith("bearer ")) return;
  call.answerHeader("authorization", `Bearer ${tokens.give(given)}`);
}

/** A login that the door did not judge, told to it. */
function refused(
  door: LoginDoor,
  peer: LoginCall["peer"],
  error: GatewayError,
  kind: Presented["kind"],
): Result<never, GatewayError> {
  door.refused(error.code, { kind, user: undefined }, presentedAt(peer));
  return err(error);
}

function presentedAt({ address }: LoginCall["peer"]): PresentedAt {
  return { frontend: "flightSql", address, patienceMs };
}
