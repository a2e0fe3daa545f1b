/** What dry runs are told in one line of text. */

/** `a, b` */
export function namesOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** `a=1, b=2` */
export function pairsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    namesOf(text).map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name.trim(), value.join("=").trim()];
    }),
  );
}
