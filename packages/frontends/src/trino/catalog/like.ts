/** SQL's LIKE over short names, in time linear in name times pattern: the pattern is the client's. */

/** True when the whole text fits: `%` is any text, `_` any character; behind `escape` a character is itself. */
export function isLike(text: string, pattern: string, escape?: string): boolean {
  const parts = partsOf(pattern, escape);
  const characters = Array.from(text);
  let at = 0;
  let part = 0;
  // Where to go on when the text behind the last `%` does not fit: the `%` then takes one character more.
  let retryPart = -1;
  let retryAt = 0;
  while (at < characters.length) {
    const wanted = parts[part];
    if (wanted?.kind === "any") {
      part += 1;
      retryPart = part;
      retryAt = at;
    } else if (wanted !== undefined && fits(wanted, characters[at])) {
      part += 1;
      at += 1;
    } else if (retryPart >= 0) {
      part = retryPart;
      retryAt += 1;
      at = retryAt;
    } else {
      return false;
    }
  }
  return parts.slice(part).every(({ kind }) => kind === "any");
}

type Part =
  | { readonly kind: "any" | "one" }
  | { readonly kind: "same"; readonly character: string };

function fits(part: Part, character: string | undefined): boolean {
  return part.kind === "one" || (part.kind === "same" && part.character === character);
}

function partsOf(pattern: string, escape: string | undefined): readonly Part[] {
  const parts: Part[] = [];
  let escaped = false;
  for (const character of pattern) {
    if (!escaped && character === escape) {
      escaped = true;
      continue;
    }
    parts.push(escaped ? { kind: "same", character } : partOf(character));
    escaped = false;
  }
  return parts;
}

function partOf(character: string): Part {
  if (character === "%") return { kind: "any" };
  return character === "_" ? { kind: "one" } : { kind: "same", character };
}
