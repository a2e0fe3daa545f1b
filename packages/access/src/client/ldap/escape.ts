/** Escapes a stranger's text for a filter or a name, so that it stays one value there. */

/** A value of a filter (RFC 4515 §3): everything is escaped that could be read as more than a value. */
export function filterValue(text: string): string {
  return escaped(text, "\\*()&|!=<>~/");
}

/** A value in a distinguished name (RFC 4514 §2.4): everything that separates, quotes or is trimmed, as its byte in hex. */
export function nameValue(text: string): string {
  return escaped(text, ' "#+,;<=>\\/');
}

/** Writes `special` and the control characters of ASCII in hex. Nothing beyond ASCII separates anything. */
function escaped(text: string, special: string): string {
  let safe = "";
  for (const character of text) {
    const code = character.charCodeAt(0);
    const isPlain = code > 0x1f && code !== 0x7f && !special.includes(character);
    safe += isPlain ? character : `\\${code.toString(16).padStart(2, "0")}`;
  }
  return safe;
}

/** Fills in the placeholders of `template`; values are inserted as they are. */
export function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(dn)?\}/g, (place) => values[place] ?? place);
}

/** Attributes that a filter compares with the user's name, in its order. */
export function comparedWithName(filter: string): readonly string[] {
  return [...filter.matchAll(/\(([A-Za-z][A-Za-z0-9-]*)=\{\}\)/g)].map(([, name = ""]) => name);
}
