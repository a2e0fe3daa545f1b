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

/** Decodes a piece, which never ends inside a character. Undefined for bytes that are no text. */
export type Decode = (bytes: Uint8Array) => string | undefined;

/** How bytes are decoded that are not UTF-8, nor of a byte a character. */
export interface Decoding {
  readonly decode: Decode;
  /** Where a piece ends that begins at `from` and is to have its end at `wanted`. */
  readonly pieceEnd: (bytes: Uint8Array, from: number, wanted: number) => number;
}

/** What bytes were decoded to. */
export interface Decoded {
  /** Undefined where the bytes are no text. */
  readonly text: string | undefined;
}

export interface DecodingClient {
  readonly user: string;
  readonly client: { readonly over: boolean };
  /** The bytes have their place among the long messages already, and are not counted once more. */
  readonly hasRoom?: boolean | undefined;
}

/** True for bytes that have to be decoded in slices; fewer take less time than one slice. */
export function areLong(bytes: Uint8Array): boolean {
  return bytes.length > longTextUnits;
}

/** Decodes bytes. Undefined where the client left before the end. */
export function decodedInSlices(
  bytes: Uint8Array,
  decoding: Decode | Decoding,
  { user, client }: DecodingClient,
  slices: Slices,
): Promise<Decoded | undefined> {
  return slices.run({ steps: decodeSteps(bytes, decoding), user, client });
}

function* decodeSteps(bytes: Uint8Array, decoding: Decode | Decoding): Steps<Decoded> {
  const { decode, pieceEnd } =
    typeof decoding === "function" ? { decode: decoding, pieceEnd: utf8PieceEnd } : decoding;
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = pieceEnd(bytes, at, at + pieceBytes);
    const piece = decode(bytes.subarray(at, end));
    if (piece === undefined) return { text: undefined };
    pieces.push(piece);
    at = end;
    yield;
  }
  return { text: pieces.join("") };
}

/** The end of a piece: where a character begins, at `wanted` or up to three bytes before it. */
function utf8PieceEnd(bytes: Uint8Array, _from: number, wanted: number): number {
  if (wanted >= bytes.length) return bytes.length;
  for (let at = wanted; at >= wanted - continuedMax; at -= 1) {
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at;
  }
  return wanted;
}
