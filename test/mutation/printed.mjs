/** What a run prints of those that nobody noticed, and what a later one reads of it. */

const whatMax = 120;

/** The place and the wrong, on one line. */
export function unnoticedLine(path, line, what) {
  return `${path}:${line}  ${what.replaceAll(/\s+/g, " ").slice(0, whatMax)}`;
}

/** `{judged, seed, unnoticed}` of a run's text: `unnoticed` as `unnoticedLine` writes them. Throws where it has no end. */
export function printedOf(text) {
  const [, judged] = /^noticed \d+ of (\d+):/m.exec(text) ?? [];
  const [, seed] = /^\d+ of \d+ mutants, seed (.*)$/m.exec(text) ?? [];
  if (judged === undefined || seed === undefined) throw new Error("no run that came to its end");
  const lines = [...text.matchAll(/^unnoticed {2}(.*?)(?: \(no test near it\))?$/gm)];
  return { judged: Number(judged), seed, unnoticed: new Set(lines.map(([, line]) => line)) };
}
