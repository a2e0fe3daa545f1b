/**
 * Turns a parsed pattern into a nondeterministic machine over a small alphabet.
 *
 * The alphabet is made first: code points that no set in the pattern tells apart share one letter,
 * so the deterministic states built from this program need a few cells instead of a million.
 */
import { err, ok, type Result } from "../result.ts";
import type { CharSet } from "./charSet.ts";
import { codePointMax, wordChars } from "./charSet.ts";
import { instructionCountMax, type Assertion, type RegexError, type RegexNode } from "./syntax.ts";

/** One step of the machine. `next` and `other` are indexes into the program. */
export type Instruction =
  | { readonly op: "letters"; readonly letters: Letters; readonly next: number }
  | { readonly op: "split"; readonly next: number; readonly other: number }
  | { readonly op: "assert"; readonly assertion: Assertion; readonly next: number }
  | { readonly op: "match" };

/** A set over the alphabet: sorted ranges of letters, flat, both ends included. */
export type Letters = readonly number[];

/** The code points of a text grouped by what the pattern can tell apart. */
export interface Alphabet {
  /** Number of letters. */
  readonly size: number;
  /** First code point of each letter's run, sorted; runs tile all code points. */
  readonly starts: readonly number[];
  /** Letter of each Latin-1 code point, because nearly all SQL text is made of them. */
  readonly latin: Uint16Array;
  /** Whether a letter is made of word characters. Meaningful when the program looks at boundaries. */
  readonly isWord: readonly boolean[];
  /** Whether a letter is the line feed. Meaningful when the program looks at lines. */
  readonly isNewline: readonly boolean[];
}

/** A pattern ready to run. */
export interface Program {
  readonly instructions: readonly Instruction[];
  readonly entry: number;
  readonly alphabet: Alphabet;
  /** Every match begins at the start of the text, so a failed attempt ends the search. */
  readonly anchored: boolean;
  readonly looksAtText: boolean;
  readonly looksAtLines: boolean;
  readonly looksAtWords: boolean;
}

/** Compiles the tree, or says which quantifier made it too large. Cost: linear in the program. */
export function compileProgram(root: RegexNode): Result<Program, RegexError> {
  const tooLarge = findTooLarge(root);
  if (tooLarge !== undefined) return err(tooLarge);

  const used = new Set<Assertion>();
  const sets = new Set<CharSet>();
  collect(root, sets, used);
  const looksAtLines = used.has("lineStart") || used.has("lineEnd");
  const looksAtWords = used.has("wordBoundary") || used.has("notWordBoundary");
  const alphabet = alphabetOf(sets, looksAtLines, looksAtWords);

  const build: Build = { instructions: [{ op: "match" }], letters: lettersOfSets(sets, alphabet) };
  const entry = emitNode(build, root, 0);
  return ok({
    instructions: build.instructions,
    entry,
    alphabet,
    anchored: isAnchored(root),
    looksAtText: used.has("textStart"),
    looksAtLines,
    looksAtWords,
  });
}

/** Letter of one code point. */
export function letterOf(alphabet: Alphabet, codePoint: number): number {
  if (codePoint < 256) return alphabet.latin[codePoint] ?? 0;
  return runOf(alphabet.starts, codePoint);
}

/** Whether a letter is in a set of letters. */
export function hasLetter(letters: Letters, letter: number): boolean {
  let low = 0;
  let high = letters.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (letter < (letters[middle * 2] ?? 0)) high = middle - 1;
    else if (letter > (letters[middle * 2 + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

/** Counts before anything is allocated: nested `{n}` multiply, and a short pattern could ask for terabytes. */
function findTooLarge(root: RegexNode): RegexError | undefined {
  const found: { error: RegexError | undefined } = { error: undefined };
  const size = sizeOf(root, found);
  if (found.error !== undefined) return found.error;
  if (size < instructionCountMax) return undefined;
  return { at: 0, reason: `the pattern needs more than ${instructionCountMax} steps` };
}

function sizeOf(node: RegexNode, found: { error: RegexError | undefined }): number {
  switch (node.kind) {
    case "empty":
      return 0;
    case "set":
    case "assert":
      return 1;
    case "concat":
      return node.items.reduce((sum, item) => sum + sizeOf(item, found), 0);
    case "choice":
      return node.options.reduce((sum, option) => sum + sizeOf(option, found) + 1, 0);
    case "repeat": {
      const copies = Math.max(node.max ?? node.min, 1);
      const size = (sizeOf(node.item, found) + 1) * copies + 1;
      if (size >= instructionCountMax) {
        found.error ??= {
          at: node.at,
          reason: `the quantifier expands to more than ${instructionCountMax} steps`,
        };
      }
      return size;
    }
  }
}

function collect(node: RegexNode, sets: Set<CharSet>, used: Set<Assertion>): void {
  switch (node.kind) {
    case "empty":
      return;
    case "set":
      sets.add(node.set);
      return;
    case "assert":
      used.add(node.assertion);
      return;
    case "concat":
      for (const item of node.items) collect(item, sets, used);
      return;
    case "choice":
      for (const option of node.options) collect(option, sets, used);
      return;
    case "repeat":
      collect(node.item, sets, used);
      return;
  }
}

function alphabetOf(sets: ReadonlySet<CharSet>, lines: boolean, words: boolean): Alphabet {
  const cuts = new Set<number>([0]);
  const cutAround = (set: CharSet): void => {
    for (let index = 0; index + 1 < set.length; index += 2) {
      cuts.add(set[index] ?? 0);
      cuts.add((set[index + 1] ?? 0) + 1);
    }
  };
  for (const set of sets) cutAround(set);
  if (lines) cutAround([0x0a, 0x0a]);
  if (words) cutAround(wordChars);

  const starts = [...cuts].filter((cut) => cut <= codePointMax).toSorted((a, b) => a - b);
  const latin = new Uint16Array(256);
  for (let codePoint = 0; codePoint < 256; codePoint += 1)
    latin[codePoint] = runOf(starts, codePoint);
  return {
    size: starts.length,
    starts,
    latin,
    isWord: starts.map((start) => hasLetter(wordChars, start)),
    isNewline: starts.map((start) => start === 0x0a),
  };
}

/** Index of the run that holds the code point. */
function runOf(starts: readonly number[], codePoint: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= codePoint) low = middle;
    else high = middle - 1;
  }
  return low;
}

function lettersOfSets(
  sets: ReadonlySet<CharSet>,
  alphabet: Alphabet,
): ReadonlyMap<CharSet, Letters> {
  const letters = new Map<CharSet, Letters>();
  for (const set of sets) {
    letters.set(
      set,
      set.map((codePoint) => runOf(alphabet.starts, codePoint)),
    );
  }
  return letters;
}

/** A pattern is anchored when no path reaches a character before `\A`. */
function isAnchored(node: RegexNode): boolean {
  switch (node.kind) {
    case "assert":
      return node.assertion === "textStart";
    case "concat":
      return node.items.some(
        (item, index) => isAnchored(item) && node.items.slice(0, index).every(isAssertion),
      );
    case "choice":
      return node.options.every(isAnchored);
    case "repeat":
      return node.min > 0 && isAnchored(node.item);
    case "empty":
    case "set":
      return false;
  }
}

function isAssertion(node: RegexNode): boolean {
  return node.kind === "assert";
}

interface Build {
  readonly instructions: Instruction[];
  readonly letters: ReadonlyMap<CharSet, Letters>;
}

/** Emits a node that continues at `next` and answers where it begins. Built from the end backwards. */
function emitNode(build: Build, node: RegexNode, next: number): number {
  switch (node.kind) {
    case "empty":
      return next;
    case "set":
      return emit(build, { op: "letters", letters: build.letters.get(node.set) ?? [], next });
    case "assert":
      return emit(build, { op: "assert", assertion: node.assertion, next });
    case "concat":
      return node.items.reduceRight((after, item) => emitNode(build, item, after), next);
    case "choice":
      return emitChoice(build, node.options, next);
    case "repeat":
      return emitRepeat(build, node, next);
  }
}

function emitChoice(build: Build, options: readonly RegexNode[], next: number): number {
  let entry: number | undefined;
  for (const option of options.toReversed()) {
    const begin = emitNode(build, option, next);
    entry = entry === undefined ? begin : emit(build, { op: "split", next: begin, other: entry });
  }
  return entry ?? next;
}

function emitRepeat(
  build: Build,
  node: Extract<RegexNode, { kind: "repeat" }>,
  next: number,
): number {
  const { item, min, max } = node;
  if (max === undefined) {
    // The loop's split comes first, so that the body can continue at it; then it is pointed at the body.
    const loop = emit(build, { op: "split", next, other: next });
    const body = emitNode(build, item, loop);
    build.instructions[loop] = { op: "split", next: body, other: next };
    return emitCopies(build, item, min - 1, min === 0 ? loop : body);
  }
  let after = next;
  for (let copy = min; copy < max; copy += 1) {
    after = emit(build, { op: "split", next: emitNode(build, item, after), other: next });
  }
  return emitCopies(build, item, min, after);
}

function emitCopies(build: Build, item: RegexNode, count: number, next: number): number {
  let begin = next;
  for (let copy = 0; copy < count; copy += 1) begin = emitNode(build, item, begin);
  return begin;
}

function emit(build: Build, instruction: Instruction): number {
  build.instructions.push(instruction);
  return build.instructions.length - 1;
}
