/**
 * Strict UTF-8 to text. Clients send the same few statements and names again and again, and to decode a short text
 * costs more than a microsecond, mostly for the way to the decoder: those that came lately are found by their bytes.
 */

import { Repeated } from "./repeated.ts";

// `ignoreBOM` keeps a leading U+FEFF, which belongs to the client's text.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Longer ones are decoded each time. */
const lengthMax = 256;
const texts = new Repeated<string>(512, lengthMax, decodeText);

/** For statements and names, which come again; values of rows do not. Undefined when the bytes are not UTF-8. */
export function repeatedText(
  bytes: Uint8Array,
  start: number = 0,
  end: number = bytes.length,
): string | undefined {
  return start === end ? "" : texts.get(bytes, start, end);
}

/** Undefined when the bytes are not UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return "";
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
