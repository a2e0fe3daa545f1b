/** Texts that come again and again on a connection: to compare bytes costs a tenth of what decoding them does. */
import { decodeText } from "./bytes.ts";

/** Longer ones are decoded each time. */
const lengthMax = 256;

export class RepeatedText {
  #bytes: Uint8Array = new Uint8Array(0);
  #text = "";

  /** Strict UTF-8 to text, the same object where the bytes are those of the text before; undefined when they are not UTF-8. */
  of(bytes: Uint8Array): string | undefined {
    if (bytes.length > lengthMax) return decodeText(bytes);
    if (areSame(bytes, this.#bytes)) return this.#text;
    const text = decodeText(bytes);
    if (text === undefined) return undefined;
    this.#bytes = bytes.slice();
    this.#text = text;
    return text;
  }
}

function areSame(some: Uint8Array, others: Uint8Array): boolean {
  const { length } = some;
  if (length !== others.length) return false;
  for (let at = 0; at < length; at += 1) if (some[at] !== others[at]) return false;
  return true;
}
