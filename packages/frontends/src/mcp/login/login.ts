/** Who sent a request. Every request proves it anew, whatever session it names. */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login, Presented } from "@gateway/core/port/authenticator.ts";
import { err, type Result } from "@gateway/core/result.ts";
import { presentedBy, type RequestHeaders } from "./headers.ts";

/** What a login is judged by. */
export interface Sender {
  readonly headers: RequestHeaders;
  readonly address: string;
  /** Names of the client's verified certificate; empty where none is asked for. */
  readonly certificateNames: readonly string[];
  readonly mayTakeCredentials: boolean;
}

/** How long a request waits for a first configuration before it is told to come again. */
const patienceMs = 2_000;

/** Judges the credential of a request. */
export async function logIn(
  door: Pick<Door, "authenticate" | "refused">,
  sender: Sender,
): Promise<Result<Login, GatewayError>> {
  const at = { frontend: "mcp", address: sender.address, patienceMs };
  const refused = (error: GatewayError, kind: Presented["kind"]): Result<never, GatewayError> => {
    door.refused(error.code, { kind, user: undefined }, at);
    return err(error);
  };
  const presented = presentedBy(sender.headers, sender.certificateNames);
  if (!presented.ok) return refused(presented.error, "nothing");
  const { kind } = presented.value;
  if (kind !== "nothing" && !sender.mayTakeCredentials) {
    return refused(gatewayError("auth.cleartext"), kind);
  }
  return await door.authenticate(presented.value, at);
}
