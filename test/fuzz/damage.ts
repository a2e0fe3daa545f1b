/** Bytes and texts that nobody should send, made from samples of what somebody does, by chance from a seed. */
import type { Chance } from "@gateway/wire/http/rig/responses.ts";

/** Numbers at which readers of lengths go wrong. */
const lengths = [0, 1, 3, 4, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
const signs = [
  "",
  "'",
  '"',
  "\\",
  "`",
  "(",
  ")",
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  ";",
  "--",
  "/*",
  "?",
  "$1",
  "\0",
  "é",
  "\ud800",
];
const editsMost = 6;
const pieceMost = 32;

/** One of the samples with some edits: bits, bytes, lengths, pieces that are gone, come twice or are another sample's. */
export function damagedBytes(samples: readonly Uint8Array[], chance: Chance): Uint8Array {
  let bytes: Uint8Array = Uint8Array.from(some(samples, chance));
  for (let edit = editsOf(chance); edit > 0; edit -= 1) bytes = edited(bytes, samples, chance);
  return bytes;
}

/** Some samples stay whole, so that what lies behind a reader's first look is reached as well. */
function editsOf(chance: Chance): number {
  return chance.below(4) === 0 ? 0 : 1 + chance.below(editsMost);
}

function edited(bytes: Uint8Array, samples: readonly Uint8Array[], chance: Chance): Uint8Array {
  const at = chance.below(bytes.length + 1);
  const piece = chance.below(pieceMost);
  switch (chance.below(7)) {
    case 0:
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8));
      return bytes;
    case 1:
      if (at < bytes.length) bytes[at] = chance.below(256);
      return bytes;
    case 2: {
      if (at + 4 > bytes.length) return bytes;
      const little = chance.below(2) === 0;
      new DataView(bytes.buffer).setUint32(at, some(lengths, chance), little);
      return bytes;
    }
    case 3:
      return joined(bytes.subarray(0, at), bytes.subarray(at + piece));
    case 4:
      return joined(bytes.subarray(0, at), bytes.subarray(Math.max(0, at - piece)));
    case 5:
      return joined(bytes.subarray(0, at), some(samples, chance).subarray(chance.below(pieceMost)));
    default:
      return bytes.slice(0, at);
  }
}

/** The same of texts, which get signs of languages as well. */
export function damagedText(samples: readonly string[], chance: Chance): string {
  let text = some(samples, chance);
  for (let edit = editsOf(chance); edit > 0; edit -= 1) {
    const at = chance.below(text.length + 1);
    const piece = chance.below(pieceMost);
    const other = some(samples, chance);
    const made = [
      text.slice(0, at) + some(signs, chance) + text.slice(at),
      text.slice(0, at) + text.slice(at + piece),
      text.slice(0, at) + text.slice(Math.max(0, at - piece)),
      text.slice(0, at) + other.slice(chance.below(other.length + 1)),
      text.slice(0, at) + some(lengths, chance) + text.slice(at + 1),
    ];
    text = some(made, chance);
  }
  return text;
}

/** JSON of any shape, near that of the samples: members that are gone, of another type, or of another sample. */
export function damagedJson(samples: readonly unknown[], chance: Chance, depth = 4): unknown {
  const value = some(samples, chance);
  if (chance.below(6) === 0) {
    return some([null, true, -1, 1e308, "", "x", [], {}, [null], { kind: 7 }], chance);
  }
  if (depth === 0 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value as readonly unknown[];
    return items.map((item) => damagedJson([item, ...samples], chance, depth - 1));
  }
  const members = Object.entries(value).filter(() => chance.below(8) !== 0);
  return Object.fromEntries(
    members.map(([name, member]) => [name, damagedJson([member], chance, depth - 1)]),
  );
}

export function some<Value>(values: readonly Value[], chance: Chance): Value {
  const found = values[chance.below(values.length)];
  if (found === undefined) throw new Error("nothing to choose from");
  return found;
}

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(pieces));
}
