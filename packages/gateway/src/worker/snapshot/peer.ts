/**
 * Asks other workers for their configuration: every resolved address in turn, until one has a copy
 * that is authentic and young enough. The fleet secret is never sent.
 */
import { lookup } from "node:dns/promises";
import type { SourceEvent, Offer } from "@gateway/core/port/configSource.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { offerOfHead } from "@gateway/core/snapshot/lifecycle.ts";
import { judgeOffer, refusalText, type OfferLimits } from "@gateway/core/snapshot/offer.ts";
import { peerAddress } from "../../config/addresses.ts";
import { judgedAnswer, sendWithin } from "../link/fleetCalls.ts";
import { peerMsMax, snapshotInflatedBytesMax } from "../limits.ts";
import { peerPath, peerSealedType, proveTo } from "./peerProof.ts";
import { sealOverhead, unseal } from "../state/sealing.ts";
import type { Transport } from "../link/transport.ts";
import { faultText, headKeysOf, verifySnapshot, type VerifiedSnapshot } from "./verify.ts";

export interface PeerParts {
  readonly host: Pick<Host, "clock" | "log" | "random" | "randomBytes">;
  readonly transport: Transport;
  /** Config: `peerBootstrap.address`, `host:port`. */
  readonly address: string;
  /** `https` where the ops listeners of the fleet have TLS. The answer is sealed either way. */
  readonly scheme: "http" | "https";
  readonly secrets: readonly [Secret, ...Secret[]];
  readonly limits: OfferLimits;
  /** Every address of a name; empty when there is none. */
  resolve(name: string): Promise<readonly string[]>;
}

/** Addresses asked in one round. Of a name with more, the next round asks others. */
const addressesMax = 64;

/** One round through all peers: the first good copy, or why there is none. */
export async function askPeers(
  parts: PeerParts,
  signal: AbortSignal,
): Promise<SourceEvent<VerifiedSnapshot>> {
  const where = peerAddress(parts.address);
  if (where === undefined) return nothing("peerBootstrap.address is not host:port");
  const addresses = await parts.resolve(where.name);
  if (addresses.length === 0) return nothing("no peer is listed");
  const reasons = new Set<string>();
  // Each worker begins elsewhere, so that a starting fleet does not ask one peer first.
  const from = Math.floor(parts.host.random() * addresses.length);
  for (let turn = 0; turn < Math.min(addresses.length, addressesMax); turn += 1) {
    if (signal.aborted) break;
    const address = addresses[(from + turn) % addresses.length] ?? "";
    const asked = await askPeer(parts, urlOf(parts.scheme, address, where.port), signal);
    if (asked.ok) return asked.value;
    reasons.add(asked.error);
  }
  return nothing(`no peer could help: ${[...reasons].join("; ")}`);
}

type Offered = Extract<SourceEvent<VerifiedSnapshot>, { kind: "offer" }>;

async function askPeer(
  parts: PeerParts,
  url: string,
  signal: AbortSignal,
): Promise<Result<Offered, string>> {
  let reason = "refused";
  for (const secret of parts.secrets) {
    const asked = await askWith(parts, url, secret, signal);
    if (asked.ok) return readAnswer(parts, asked.value.body, asked.value.nonce);
    ({ reason } = asked.error);
    if (!asked.error.again) break;
  }
  return err(reason);
}

/** `again`: another secret may fit. */
async function askWith(
  parts: PeerParts,
  url: string,
  secret: Secret,
  signal: AbortSignal,
): Promise<
  Result<
    { readonly body: Uint8Array; readonly nonce: string },
    { readonly reason: string; readonly again: boolean }
  >
> {
  const { host } = parts;
  const { nonce, headers } = proveTo(secret, host);
  const bytesMax = snapshotInflatedBytesMax + sealOverhead + 1_024;
  const wanted = {
    method: "GET",
    url,
    headers: { ...headers, accept: peerSealedType },
    bytesMax,
  } as const;
  const sent = await sendWithin(parts, wanted, peerMsMax, signal);
  const answer = sent.ok ? judgedAnswer(sent.value, host.clock.unixMs()) : sent;
  if (answer.ok) return ok({ body: answer.value.body, nonce });
  const { error } = answer;
  const again = error.code === "unauthorized";
  return err({ reason: "detail" in error ? error.detail : error.code, again });
}

const prefix = /^\{"confirmedAt":(\d{1,15}),"snapshot":/;
const prefixBytesMax = 64;

async function readAnswer(
  parts: PeerParts,
  body: Uint8Array,
  nonce: string,
): Promise<Result<Offered, string>> {
  const opened = unseal(body, parts.secrets, { purpose: "peer answer", context: nonce });
  if (!opened.ok) return err(`an answer that is not authentic (${opened.error})`);
  const { bytes } = opened.value;
  const begin = Buffer.from(bytes.subarray(0, prefixBytesMax)).toString("latin1");
  const match = prefix.exec(begin);
  if (match === null) return err("an answer that is not understood");
  const verified = await verifySnapshot(
    bytes.subarray(match[0].length, bytes.length - 1),
    headKeysOf(parts.secrets),
  );
  if (!verified.ok) return err(faultText(verified.error));
  return judgedCopy(parts, verified.value, Number(match[1]));
}

function judgedCopy(
  { host, limits }: PeerParts,
  body: VerifiedSnapshot,
  confirmedAtMs: number,
): Result<Offered, string> {
  const { head } = body;
  // The head's own time is authentic: the last confirmation can not be later than the head says.
  if (confirmedAtMs > head.confirmedAt) return err("a copy that makes itself younger");
  const offer: Offer = { ...offerOfHead("peer", head), confirmedAtMs };
  const judged = judgeOffer(offer, undefined, host.clock.unixMs(), limits);
  if (judged.kind === "refuse") return err(refusalText(judged.refusal));
  return ok({ kind: "offer", offer, head, body });
}

function urlOf(scheme: string, address: string, port: number): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return `${scheme}://${host}:${port}${peerPath}`;
}

function nothing(reason: string): SourceEvent<VerifiedSnapshot> {
  return { kind: "unreachable", source: "peer", reason };
}

/** Every address of a name, by the system's own look-up (which also reads the hosts file). Empty when there is none, or when it can not be found out. */
export async function resolveAll(name: string): Promise<readonly string[]> {
  try {
    const found = await lookup(name, { all: true, order: "verbatim" });
    return [...new Set(found.map(({ address }) => address))];
  } catch {
    // No such name, or no name server: there is nobody to ask either way.
    return [];
  }
}
