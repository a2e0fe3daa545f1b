/**
 * How workers speak to each other without sending the fleet secret. The one that asks proves that
 * it has the secret, by an HMAC over a nonce and the time; the answer is sealed for that nonce.
 * Whoever listens or answers without the secret learns nothing.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { peerFreshMs, peerNoncesMax } from "../limits.ts";

export const peerPath = "/worker/peer-config";
export const peerTimeHeader = "gateway-peer-time";
export const peerNonceHeader = "gateway-peer-nonce";
export const peerProofHeader = "gateway-peer-proof";
/** Type of a sealed answer; an operator with a bearer gets JSON. */
export const peerSealedType = "application/vnd.gateway.sealed";

const info = "gateway peer request v1";
const nonceBytes = 24;

export interface PeerProof {
  readonly nonce: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A proof for one request; a nonce is used once. */
export function proveTo(
  secret: Secret,
  host: { readonly clock: Pick<Host["clock"], "unixMs"> } & Pick<Host, "randomBytes">,
): PeerProof {
  const nonce = Buffer.from(host.randomBytes(nonceBytes)).toString("base64url");
  const time = String(host.clock.unixMs());
  return {
    nonce,
    headers: {
      [peerTimeHeader]: time,
      [peerNonceHeader]: nonce,
      [peerProofHeader]: macOf(secret, time, nonce).toString("hex"),
    },
  };
}

/** `absent`: there is no proof. `busy`: so many nonces are remembered that a replay would not be noticed. */
export type ProofRefusal = "absent" | "wrong" | "stale" | "replayed" | "busy";

export interface Proven {
  readonly secret: Secret;
  readonly nonce: string;
}

export type JudgeProof = (headers: Headers) => Result<Proven, ProofRefusal>;

/** Judges proofs. Remembers each nonce for as long as a proof with it would be accepted. */
export function proofJudge(
  secrets: readonly Secret[],
  host: { readonly clock: Pick<Host["clock"], "unixMs" | "nowMs"> },
): JudgeProof {
  /** Nonce to the monotonic time at which it may be forgotten; oldest first. */
  const seen = new Map<string, number>();

  function forget(): void {
    const nowMs = host.clock.nowMs();
    for (const [nonce, untilMs] of seen) {
      if (untilMs > nowMs) return;
      seen.delete(nonce);
    }
  }

  return (headers) => {
    const time = headers.get(peerTimeHeader) ?? "";
    const nonce = headers.get(peerNonceHeader) ?? "";
    const proof = headers.get(peerProofHeader) ?? "";
    if (time === "" && nonce === "" && proof === "") return err("absent");
    if (!/^\d{1,15}$/.test(time) || !/^[\w-]{32}$/.test(nonce) || !/^[0-9a-f]{64}$/.test(proof)) {
      return err("wrong");
    }
    const presented = Buffer.from(proof, "hex");
    const fits = secrets.map((one) => timingSafeEqual(macOf(one, time, nonce), presented));
    const secret = secrets[fits.indexOf(true)];
    if (secret === undefined) return err("wrong");
    if (Math.abs(host.clock.unixMs() - Number(time)) > peerFreshMs) return err("stale");
    forget();
    if (seen.has(nonce)) return err("replayed");
    // Only who has the secret gets here, so a stranger can not fill the memory.
    if (seen.size >= peerNoncesMax) return err("busy");
    seen.set(nonce, host.clock.nowMs() + 2 * peerFreshMs + 1_000);
    return ok({ secret, nonce });
  };
}

function macOf(secret: Secret, time: string, nonce: string): Buffer {
  const key = new Uint8Array(hkdfSync("sha256", secret.reveal(), "", info, 32));
  return createHmac("sha256", key).update(`${info}\n${time}\n${nonce}`, "utf8").digest();
}
