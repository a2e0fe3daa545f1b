/** Sends a call on to the gateway that has what it names, and gives its answer to the client as that comes. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Carrier } from "../../listener/elsewhere.ts";
import type { Call } from "../calls.ts";
import type { FlightStatus } from "../errors.ts";
import { carriedBytesMax } from "../limits.ts";
import type { MethodName } from "../machine.ts";
import { readAnswer, requestFrame } from "./frames.ts";

/** A call, and its first message, which was read to see where it leads. */
export interface Going {
  readonly method: MethodName;
  readonly call: Call;
  readonly user: string;
  readonly first: Uint8Array;
}

/** How the owner ended it, undefined without an error; or `query.elsewhere` where there is no owner any more. */
export async function sendOn(
  carrier: Carrier,
  mark: string,
  { method, call, user, first }: Going,
): Promise<Result<FlightStatus | undefined, GatewayError>> {
  const { address, mayTakeCredentials, certificateNames } = call.peer;
  const answer = await carrier.carry(mark, "flightSql", {
    path: `/${method}`,
    headers: [...call.headers().keys()].flatMap((name) =>
      call.header(name).flatMap((value) => (passes(name, value) ? [name, value] : [])),
    ),
    // The other methods have one message, and nothing more is read of them.
    body: method === "DoPut" ? messages(call, user, first) : requestFrame(first),
    client: { address, mayTakeCredentials, certificateNames, baseUrl: "" },
    signal: call.signal,
  });
  if (answer === undefined) return err(gatewayError("query.elsewhere"));
  try {
    for await (const frame of readAnswer(answer, carriedBytesMax)) {
      if (frame.kind === "end") {
        // What follows is the end of the body, and the connection is good for the next call.
        answer.resume();
        return ok(frame.failure);
      }
      if (frame.kind === "header") call.answerHeader(frame.name, frame.value);
      else await call.send(frame.message);
      if (call.signal.aborted) break;
    }
  } catch {
    // It ended, or was cut off, before the end of its answer; what it did until then nobody can tell.
  }
  answer.destroy();
  return err(call.signal.aborted ? gatewayError("query.cancelled") : brokenOff);
}

/** Not `query.elsewhere`, which clients repeat: the statement may have run. */
const brokenOff = gatewayError("engine.broken", {
  message: "The gateway that has the query broke off before the end of its answer.",
});

async function* messages(
  call: Call,
  user: string,
  first: Uint8Array,
): AsyncGenerator<Uint8Array, void, void> {
  let message: Uint8Array | undefined = first;
  while (message !== undefined) {
    yield requestFrame(message);
    const next = await call.next(user);
    // The owner must not take what came so far for all of it.
    if (!next.ok) throw new Error("the request broke off");
    message = next.value;
  }
}

/** What gRPC and HTTP/2 say of their own connection stays here. */
function passes(name: string, value: string): boolean {
  const isOwn = name.startsWith(":") || name.startsWith("grpc-") || ownHeaders.has(name);
  return !isOwn && /^[\t\x20-\x7e]*$/.test(value);
}

const ownHeaders = new Set([
  "te",
  "host",
  "connection",
  "content-type",
  "content-length",
  "transfer-encoding",
  "expect",
  "upgrade",
]);
