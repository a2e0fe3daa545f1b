/**
 * Who sent a request. Every request proves it anew: the door judges the credential, and a name claimed
 * beside it must be the same.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login, Presented, PresentedAt } from "@gateway/core/port/authenticator.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { claimedUser, claimsAnother, presentedBy, type RequestHeaders } from "./identity.ts";

/** What a login is judged by. */
export interface Sender {
  readonly headers: RequestHeaders;
  readonly address: string;
  /** Names of the client's verified certificate; empty where none is asked for. */
  readonly certificateNames: readonly string[];
  readonly mayTakeCredentials: boolean;
}

type LoginDoor = Pick<Door, "authenticate" | "refused">;

/** How long a request waits for a first configuration before it is told to come again. */
const patienceMs = 2_000;

/** Judges the credential of a request. */
export function logIn(door: LoginDoor, sender: Sender): Promise<Result<Login, GatewayError>> {
  const presented = presentedBy(sender.headers, sender.certificateNames);
  if (!presented.ok) return Promise.resolve(refused(door, sender, presented.error, "nothing"));
  const { kind } = presented.value;
  if (kind !== "nothing" && !sender.mayTakeCredentials) {
    return Promise.resolve(refused(door, sender, gatewayError("auth.cleartext"), kind));
  }
  const login = door.authenticate(presented.value, presentedAt(sender));
  return kind === "nothing" ? login : compared(door, sender, presented.value, login);
}

/**
 * Who polls, for a query of `owner`; undefined for a query that nobody knows. Where names are not
 * verified a poll needs none: its link is the secret then, and a stranger could claim the owner's name
 * anyway.
 */
export async function whoPolls(
  door: LoginDoor & Pick<Door, "asksPassword">,
  sender: Sender,
  owner: AuthContext | undefined,
): Promise<Result<AuthContext, GatewayError>> {
  const presented = presentedBy(sender.headers, sender.certificateNames);
  const nameless =
    presented.ok && presented.value.kind === "nothing" && presented.value.user === undefined;
  if (nameless && owner !== undefined && !door.asksPassword) return ok(owner);
  const login = await logIn(door, sender);
  return login.ok ? ok(login.value.identity) : login;
}

/** A verified login, unless the request claims to be somebody else beside it. */
async function compared(
  door: LoginDoor,
  sender: Sender,
  presented: Presented,
  verified: Promise<Result<Login, GatewayError>>,
): Promise<Result<Login, GatewayError>> {
  const login = await verified;
  if (!login.ok) return login;
  const { identity } = login.value;
  if (!claimsAnother(sender.headers, presented, identity)) return login;
  const message = `Access Denied: User ${identity.user} cannot impersonate another user`;
  return refused(door, sender, gatewayError("query.permission", { message }), presented.kind);
}

/** A login that the door did not judge, told to it. */
function refused(
  door: LoginDoor,
  sender: Sender,
  error: GatewayError,
  kind: Presented["kind"],
): Result<never, GatewayError> {
  door.refused(error.code, { kind, user: claimedUser(sender.headers) }, presentedAt(sender));
  return err(error);
}

function presentedAt({ address }: Sender): PresentedAt {
  return { frontend: "trinoHttp", address, patienceMs };
}
