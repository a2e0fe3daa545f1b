/**
 * A built snapshot as bytes for one caller: its head, authenticated under the secret that the caller
 * presented, in front of the body that every caller gets.
 *
 * What is made is kept until revision or confirmation move on, so that a thousand workers that fetch
 * at the same moment cost one HMAC and one copy.
 */
import { crc32 } from "node:zlib";
import type { SnapshotHead } from "@gateway/contract/snapshot.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type { Built } from "../../config/configuration.ts";
import type { SpliceLine } from "@gateway/contract/snapshotDelta.ts";
import { headKeyOf, headOf, headPrefix } from "../../config/snapshot/head.ts";
import { Bases } from "./delta.ts";

export interface Served {
  readonly built: Built;
  readonly head: SnapshotHead;
  /** `{"head":…}`: the answer to a wait, and a line of the stream. */
  readonly headJson: string;
  /** `{head, …body}`. */
  identity(): Uint8Array<ArrayBuffer>;
  /** The same, compressed. */
  gzip(): Uint8Array<ArrayBuffer>;
  /** What a reader needs who has one of those that `fits`, and whose it is; undefined where the whole serves better. */
  splice(fits: (built: Built) => boolean): Splice | undefined;
}

export interface Splice {
  readonly base: Built;
  /** `contract/snapshotDelta.ts` says how they are read. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What is served of `built`, confirmed at `confirmedAt`, to a caller with the secret at `secretIndex`. */
export type Serve = (built: Built, confirmedAt: number, secretIndex: number) => Served;

export function serverOf(secrets: readonly Secret[]): Serve {
  const keys = secrets.map(headKeyOf);
  // One entry per secret: the newest. Older ones are asked for by nobody.
  const newest = new Map<number, Served>();
  const bases = new Bases();

  return (built, confirmedAt, secretIndex) => {
    const kept = newest.get(secretIndex);
    if (kept?.built === built && kept.head.confirmedAt === confirmedAt) return kept;
    const key = keys[secretIndex];
    if (key === undefined) throw new RangeError("no such secret");
    bases.serve(built);
    const made = servedOf(built, headOf(built, confirmedAt, key), bases);
    newest.set(secretIndex, made);
    return made;
  };
}

function servedOf(built: Built, head: SnapshotHead, bases: Bases): Served {
  const headJson = JSON.stringify({ head });
  const prefix = Buffer.from(headPrefix(head), "utf8");
  const tail = built.bytes.subarray(1);
  let identity: Uint8Array<ArrayBuffer> | undefined;
  let gzip: Uint8Array<ArrayBuffer> | undefined;
  return {
    built,
    head,
    headJson,
    identity: () => (identity ??= Buffer.concat([prefix, tail])),
    gzip: () => (gzip ??= gzipWithPrefix(prefix, tail, built.gzipTail)),
    splice: (fits) => spliceTo(head, bases.deltaFrom(fits)),
  };
}

function spliceTo(head: SnapshotHead, found: ReturnType<Bases["deltaFrom"]>): Splice | undefined {
  if (found === undefined) return undefined;
  const { base, delta } = found;
  const line: SpliceLine = { head, front: delta.front, back: delta.back };
  return { base, bytes: Buffer.concat([Buffer.from(`${JSON.stringify(line)}\n`), delta.middle]) };
}

const gzipHeadBytes = 10;
const gzipTrailerBytes = 8;

/**
 * One gzip member of `prefix` and `tail`, from `tail` compressed before: the prefix goes in front of
 * its deflate stream as a stored block (RFC 1951 §3.2.4), and the checksum is made anew.
 *
 * Two members one after the other (RFC 1952 §2.2) would be less work, but curl and browsers stop
 * after the first. Distances in a deflate stream reach back into its own output only, so what stands
 * in front of it does not matter.
 */
function gzipWithPrefix(prefix: Buffer, tail: Uint8Array, gzipTail: Uint8Array) {
  if (gzipTail[3] !== 0 || prefix.length > 0xffff) throw new RangeError("not a plain gzip member");
  const block = Buffer.alloc(5);
  block.writeUInt16LE(prefix.length, 1);
  block.writeUInt16LE(prefix.length ^ 0xffff, 3);
  const trailer = Buffer.alloc(gzipTrailerBytes);
  trailer.writeUInt32LE(crc32(tail, crc32(prefix)), 0);
  trailer.writeUInt32LE((prefix.length + tail.length) % 2 ** 32, 4);
  const deflated = gzipTail.subarray(gzipHeadBytes, gzipTail.length - gzipTrailerBytes);
  return Buffer.concat([gzipTail.subarray(0, gzipHeadBytes), block, prefix, deflated, trailer]);
}
