/**
 * Sets that write a part of Unicode's characters as UTF-8 does, and have no others: a server answers in them with a
 * question mark for what they lack.
 */
import { decodeText } from "../../text.ts";
import type { CharacterSet } from "./characterSet.ts";

/** What each has not. */
const lacking = {
  utf8mb3: /[\u{10000}-\u{10ffff}]/gu,
  ascii: /[^\0-\x7f]/gu,
} as const;

export type NarrowName = keyof typeof lacking;

export function isNarrow(name: string): name is NarrowName {
  return Object.hasOwn(lacking, name);
}

export function narrowSet(name: NarrowName): CharacterSet {
  const nearest = (text: string) => text.replaceAll(lacking[name], "?");
  return {
    decode: (bytes) => {
      const text = decodeText(bytes);
      return text !== undefined && nearest(text) === text ? text : undefined;
    },
    shown: (bytes) => nearest(lenient.decode(bytes)),
    encode: (text) => encoder.encode(nearest(text)),
  };
}

const encoder = new TextEncoder();
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
