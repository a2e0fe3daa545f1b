/**
 * Decodes the bytes of long texts in slices, because text beyond ASCII takes 5 ms a megabyte.
 *
 * The pieces are joined in one go at the end, which is a mere copy.
 */
import type { Slices } from "@gateway/core/port/host.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";

/** Bytes of one step: a fraction of a millisecond. */
const pieceBytes = 32 * 1024;
/** A character of UTF-8 has at most so many bytes behind its first. */
const continuedMax = 3;

/** Decodes a piece, which never ends inside a character of UTF-8. Undefined for bytes that are no text. */
export type Decode = (bytes: Uint8Array) => string | undefined;

/** What bytes were decoded to. */
export interface Decoded {
  /** Undefined where the bytes are no text. */
  readonly text: string | undefined;
}

export interface DecodingClient {
  readonly user: string;
  readonly client: { readonly over: boolean };
}

/** True for bytes that have to be decoded in slices; fewer take less time than one slice. */
export function areLong(bytes: Uint8Array): boolean {
  return bytes.length > longTextUnits;
}

/** Decodes bytes. Undefined where the client left before the end. */
export function decodedInSlices(
  bytes: Uint8Array,
  decode: Decode,
  { user, client }: DecodingClient,
  slices: Slices,
): Promise<Decoded | undefined> {
  return slices.run({ steps: decodeSteps(bytes, decode), user, client });
}

function* decodeSteps(bytes: Uint8Array, decode: Decode): Steps<Decoded> {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = pieceEnd(bytes, at + pieceBytes);
    const piece = decode(bytes.subarray(at, end));
    if (piece === undefined) return { text: undefined };
    pieces.push(piece);
    at = end;
    yield;
  }
  return { text: pieces.join("") };
}

/** The end of a piece: where a character begins, at `wanted` or up to three bytes before it. */
function pieceEnd(bytes: Uint8Array, wanted: number): number {
  if (wanted >= bytes.length) return bytes.length;
  for (let at = wanted; at >= wanted - continuedMax; at -= 1) {
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at;
  }
  return wanted;
}
