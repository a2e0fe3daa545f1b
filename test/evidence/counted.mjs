/**
 * Lines by which a run says what it counted, for the page of evidence: `counted  5000000 bad inputs tried`. A run counts
 * what it judged; what it did not look at it does not count as none.
 */

/** By name, the words of the page, in its order. */
export const kinds = {
  load: "statements of load",
  faults: "faults",
  badInputs: "bad inputs tried",
  lost: "records lost without a word",
  declared: "records declared lost",
  over: "statements beyond a cap",
  differences: "differences found",
  mutants: "small wrongs made",
  unnoticed: "small wrongs that no test noticed",
};

export function countedLine(kind, number) {
  return `counted  ${number} ${kinds[kind]}`;
}

/** How the comparison of answers says it, which runs in TypeScript. */
const compared = /^\d+ answers with \d+ rows compared, (\d+) differences/gm;

/** Sums of what a text counts, by the words of the page. */
export function countedIn(text) {
  const sums = new Map();
  const add = (words, number) => sums.set(words, (sums.get(words) ?? 0) + Number(number));
  for (const [, number, words] of text.matchAll(/^counted {2}(\d+) (\S.*)$/gm)) add(words, number);
  for (const [, number] of text.matchAll(compared)) add(kinds.differences, number);
  return sums;
}

/** Counts that a program adds up and prints at its end. */
const tally = new Map();

export function count(kind, number) {
  tally.set(kind, (tally.get(kind) ?? 0) + number);
}

export function printCounted() {
  for (const [kind, number] of tally) console.log(countedLine(kind, number));
}
