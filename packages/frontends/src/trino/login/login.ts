/**
 * Who sent a request. Every request proves it anew: the door judges the credential, and a name claimed
 * beside it must be the same.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login, Presented, PresentedAt } from "@gateway/core/port/authenticator.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { LinesMemo } from "../../listener/http/plain/sameLines.ts";
import { claimedUser, claimsAnother, presentedBy, type RequestHeaders } from "./identity.ts";

/** What a login is judged by. */
export interface Sender {
  readonly headers: RequestHeaders;
  readonly address: string;
  /** Names of the client's verified certificate; empty where none is asked for. */
  readonly certificateNames: readonly string[];
  readonly mayTakeCredentials: boolean;
  /** Of its headers. */
  readonly memo: LinesMemo | undefined;
}

type LoginDoor = Pick<Door, "authenticate" | "recall" | "refused">;
type MayWait<Value> = Promise<Value> | Value;

/** How long a request waits for a first configuration before it is told to come again. */
const patienceMs = 2_000;

/** Judges the credential of a request. A promise only where it was not verified a moment ago. */
export function logIn(door: LoginDoor, sender: Sender): MayWait<Result<Login, GatewayError>> {
  const presented = shownBy(sender);
  if (!presented.ok) return refused(door, sender, presented.error, "nothing");
  const { kind } = presented.value;
  if (kind !== "nothing" && !sender.mayTakeCredentials) {
    return refused(door, sender, gatewayError("auth.cleartext"), kind);
  }
  const known = door.recall?.(presented.value);
  if (known !== undefined) return compared(door, sender, presented.value, known);
  const login = door.authenticate(presented.value, presentedAt(sender));
  if (kind === "nothing") return login;
  return login.then((one) => (one.ok ? compared(door, sender, presented.value, one.value) : one));
}

/**
 * Who polls, for a query of `owner`; undefined for a query that nobody knows. Where names are not
 * verified a poll needs none: its link is the secret then, and a stranger could claim the owner's name
 * anyway.
 */
export function whoPolls(
  door: LoginDoor & Pick<Door, "asksPassword">,
  sender: Sender,
  owner: AuthContext | undefined,
): MayWait<Result<AuthContext, GatewayError>> {
  const mayBeNameless = owner !== undefined && !door.asksPassword;
  const presented = mayBeNameless ? shownBy(sender) : undefined;
  const nameless =
    presented?.ok === true &&
    presented.value.kind === "nothing" &&
    presented.value.user === undefined;
  if (nameless && owner !== undefined) return ok(owner);
  const login = logIn(door, sender);
  return login instanceof Promise ? login.then(identityIn) : identityIn(login);
}

function shownBy({ headers, certificateNames, memo }: Sender): Result<Presented, GatewayError> {
  if (memo === undefined) return presentedBy(headers, certificateNames);
  return (memo.presented ??= presentedBy(headers, certificateNames));
}

function identityIn(login: Result<Login, GatewayError>): Result<AuthContext, GatewayError> {
  return login.ok ? ok(login.value.identity) : login;
}

/** A verified login, unless the request claims to be somebody else beside it. */
function compared(
  door: LoginDoor,
  sender: Sender,
  presented: Presented,
  login: Login,
): Result<Login, GatewayError> {
  const { identity } = login;
  if (!claimsAnother(sender.headers, presented, identity)) return ok(login);
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
