/**
 * A pattern in which `*` stands for any characters, for names that were folded as the pattern was. Matched without
 * going back, as names come from strangers.
 */
export function wildcard(pattern: string): (name: string) => boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return (name) => name === first;
  return (name) => {
    if (!name.startsWith(first) || name.length < first.length + last.length) return false;
    let at = first.length;
    for (const piece of others) {
      const found = name.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return name.length - last.length >= at && name.endsWith(last);
  };
}
