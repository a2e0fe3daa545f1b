/**
 * Answers `GET /worker/peer-config`: the active configuration with the time of its last confirmation,
 * sealed for a worker that proves it has the fleet secret, or in clear for an operator who presents
 * it. Mounted only where `peerBootstrap` is configured.
 */
import type { SnapshotHead } from "@gateway/contract/snapshot.ts";
import { bearerOf, secretFinder } from "@gateway/control/http/secretCompare.ts";
import { throttleOf } from "@gateway/control/http/throttle.ts";
import { problemResponse } from "@gateway/control/problem.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { servedBytes } from "./lastGood.ts";
import { peerSealedType, proofJudge } from "./peerProof.ts";
import { seal } from "../state/sealing.ts";

export interface ServePeersParts {
  readonly host: Pick<Host, "clock" | "log" | "randomBytes">;
  readonly secrets: readonly Secret[];
  /** What is active: its newest head and the canonical bytes of its body, and when the control plane last confirmed it. */
  active():
    | { readonly head: SnapshotHead; readonly bytes: Uint8Array; readonly confirmedAtMs: number }
    | undefined;
  /** Address of the caller, to slow down who guesses. */
  callerAddress(request: Request): string;
}

/** One per process: it remembers nonces and failures. */
export function servePeers(parts: ServePeersParts): (request: Request) => Response {
  const { host, secrets } = parts;
  const judge = proofJudge(secrets, host);
  const find = secretFinder(secrets);
  const throttle = throttleOf(host.clock);

  function refuse(request: Request, reason: string): Response {
    const address = parts.callerAddress(request);
    const waitMs = throttle.failed(address);
    if (waitMs > 0) return tooOften(waitMs);
    host.log.write("warn", "worker.peerRefused", { address, reason });
    return problemResponse(
      { status: 401, code: "unauthorized", title: "Unauthorized" },
      { "www-authenticate": "Bearer" },
    );
  }

  return (request) => {
    const bearer = bearerOf(request);
    if (bearer !== undefined) {
      if (find(bearer) === undefined) return refuse(request, "bearer");
      const document = documentOf(parts);
      return document === undefined ? notConfigured() : clear(document);
    }
    const proven = judge(request.headers);
    if (!proven.ok) {
      return proven.error === "busy" ? tooOften(60_000) : refuse(request, proven.error);
    }
    const document = documentOf(parts);
    if (document === undefined) return notConfigured();
    const { secret, nonce } = proven.value;
    const sealed = seal(document, secret, { purpose: "peer answer", context: nonce }, host);
    const headers = { "content-type": peerSealedType, "cache-control": "no-store" };
    return new Response(Buffer.from(sealed), { headers });
  };
}

/** `{confirmedAt, snapshot}`; the reader takes the snapshot's bytes out without writing them anew. */
function documentOf({ active }: Pick<ServePeersParts, "active">): Uint8Array | undefined {
  const found = active();
  if (found === undefined) return undefined;
  const { head, bytes } = found;
  // When a copy brought the head, the control plane confirmed nothing later than the head's own
  // time.
  const confirmedAtMs = Math.min(found.confirmedAtMs, head.confirmedAt);
  return Buffer.concat([
    Buffer.from(`{"confirmedAt":${confirmedAtMs},"snapshot":`, "utf8"),
    servedBytes(head, bytes),
    Buffer.from("}", "utf8"),
  ]);
}

function clear(document: Uint8Array): Response {
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  return new Response(Buffer.from(document), { headers });
}

function notConfigured(): Response {
  return problemResponse(
    {
      status: 503,
      code: "notConfigured",
      title: "Service Unavailable",
      detail: "There is no configuration yet.",
    },
    { "retry-after": "5" },
  );
}

function tooOften(waitMs: number): Response {
  return problemResponse(
    { status: 429, code: "tooManyFailures", title: "Too Many Requests" },
    { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1_000))) },
  );
}
