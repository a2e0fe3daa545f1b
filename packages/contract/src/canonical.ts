/**
 * JSON in one form only (RFC 8785), so that equal values have equal bytes and equal hashes on every
 * replica and in every release.
 *
 * Numbers and strings are written as ECMAScript writes them, which is what the RFC asks for. It is
 * not a serialiser for values outside JSON: one that JSON can not hold is a bug of the caller.
 */

/** Anything that JSON can hold. Keys whose value is undefined do not exist. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** The canonical text. Throws for a number that is not finite, for a lone surrogate, and for a cycle (by stack). */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return textOf(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError("not a JSON number");
    return String(value);
  }
  // Loops and one growing text: every query record is written once in this form.
  let text = "";
  if (isList(value)) {
    for (const member of value) text += `${text === "" ? "" : ","}${canonicalJson(member)}`;
    return `[${text}]`;
  }
  for (const { key, name } of membersOf(value)) {
    const member = value[key];
    if (member === undefined) continue;
    text += text === "" ? name : `,${name}`;
    text += canonicalJson(member);
  }
  return `{${text}}`;
}

interface Member {
  readonly key: string;
  /** As it stands before the value. */
  readonly name: string;
}

interface Shape {
  readonly keys: readonly string[];
  readonly members: readonly Member[];
}

/** The last shape of each number of keys: records come by the thousand and are all made alike. */
const shapes: (Shape | undefined)[] = [];
const shapeKeysMax = 64;

/** RFC 8785 §3.2.3: by UTF-16 code units, which is how texts are sorted when nothing else is said. */
function membersOf(value: object): readonly Member[] {
  const keys = Object.keys(value);
  const known = shapes[keys.length];
  if (known !== undefined && keys.every((key, at) => key === known.keys[at])) return known.members;
  const members = keys.toSorted().map((key) => ({ key, name: `${textOf(key)}:` }));
  if (keys.length <= shapeKeysMax) shapes[keys.length] = { keys, members };
  return members;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** No character that JSON escapes, and no half of one: such text stands as it is. */
const plain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** To look at each of so few costs less than to reach an expression. */
const shortUnits = 32;

/** False for some that are plain all the same. */
function isWord(value: string): boolean {
  if (value.length > shortUnits) return false;
  for (let at = 0; at < value.length; at += 1) {
    const unit = value.charCodeAt(at);
    // Digits, letters and `_` with their neighbours; not the backslash.
    if (unit < 0x30 || unit > 0x7a || unit === 0x5c) return false;
  }
  return true;
}

function textOf(value: string): string {
  // Nearly every text is plain, and this is several times as fast as the serialiser.
  if (isWord(value) || plain.test(value)) return `"${value}"`;
  // UTF-8 has no bytes for half a character, so two such texts could share one hash.
  if (!value.isWellFormed()) throw new TypeError("not Unicode text");
  return JSON.stringify(value);
}
