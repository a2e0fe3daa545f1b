/** Patterns of names as in SQL's `LIKE`: `%` is any text, `_` one character, and a backslash takes that away. */

/** Whether a name fits. No pattern takes every name. Cost: the lengths of pattern and name multiplied. */
export function likeOf(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  const parts = partsOf(pattern);
  return (name) => fits(parts, Array.from(name));
}

type Part = "any" | "one" | { readonly literal: string };

function partsOf(pattern: string): readonly Part[] {
  const parts: Part[] = [];
  let escaped = false;
  for (const character of pattern) {
    if (!escaped && character === "\\") {
      escaped = true;
      continue;
    }
    if (escaped) parts.push({ literal: character });
    else if (character === "%") parts.push("any");
    else parts.push(character === "_" ? "one" : { literal: character });
    escaped = false;
  }
  return escaped ? [...parts, { literal: "\\" }] : parts;
}

function fits(parts: readonly Part[], name: readonly string[]): boolean {
  let [part, at] = [0, 0];
  /** Where the last `%` stands, and what it has taken so far. */
  let [star, taken] = [-1, 0];
  while (at < name.length) {
    const wanted = parts[part];
    if (wanted === "any") {
      [star, taken] = [part, at];
      part += 1;
    } else if (wanted === "one" || (wanted !== undefined && wanted.literal === name[at])) {
      part += 1;
      at += 1;
    } else if (star >= 0) {
      taken += 1;
      [part, at] = [star + 1, taken];
    } else return false;
  }
  return parts.slice(part).every((left) => left === "any");
}
