/**
 * Strict UTF-8 to text. Clients send the same few statements and names again and again, and to decode a short text
 * costs more than a microsecond, mostly for the way to the decoder: those that came lately are found by their bytes.
 */

// `ignoreBOM` keeps a leading U+FEFF, which belongs to the client's text.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Longer ones are decoded each time. */
const lengthMax = 256;
/** Texts that are kept, each in the one place that its bytes give; a power of two. */
const places = 512;
const knownBytes: (Uint8Array | undefined)[] = Array.from({ length: places }, () => undefined);
const knownTexts: string[] = Array.from({ length: places }, () => "");

/** For statements and names, which come again; values of rows do not. Undefined when the bytes are not UTF-8. */
export function repeatedText(bytes: Uint8Array): string | undefined {
  const { length } = bytes;
  if (length === 0) return "";
  if (length > lengthMax) return decodeText(bytes);
  const place = placeOf(bytes);
  const known = knownBytes[place];
  if (known !== undefined && areSame(known, bytes)) return knownTexts[place];
  const text = decodeText(bytes);
  if (text === undefined) return undefined;
  knownBytes[place] = bytes.slice();
  knownTexts[place] = text;
  return text;
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

function placeOf(bytes: Uint8Array): number {
  let hash = bytes.length;
  for (let at = 0; at < bytes.length; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return (hash ^ (hash >>> 9) ^ (hash >>> 18)) & (places - 1);
}

function areSame(some: Uint8Array, others: Uint8Array): boolean {
  const { length } = some;
  if (length !== others.length) return false;
  for (let at = 0; at < length; at += 1) if (some[at] !== others[at]) return false;
  return true;
}
