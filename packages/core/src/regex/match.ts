/**
 * Runs a program over a text: a subset construction, built lazily and thrown away when it grows.
 *
 * Every character costs at most one walk over the program, whatever the pattern, so a search costs at
 * most program × text. Usually a character costs one table look-up, because the result of its walk is
 * cached. The cache has a fixed budget: when it is full it is emptied, and a search that keeps filling it
 * goes on without it.
 *
 * Answers only whether there is a match: no positions, no groups.
 */
import { hasLetter, letterOf, type Instruction, type Program } from "./program.ts";
import type { Assertion } from "./syntax.ts";

/** Cells of the transition table a machine may hold; 4 bytes each. */
const tableCellsMax = 32_768;

/** Instruction numbers that all cached states may hold together. */
const threadCellsMax = 65_536;

/** How often one search may empty the cache before it goes on without it. */
const flushesPerSearchMax = 3;

/** What came before the next character, as far as the program can tell. */
const before = { textStart: 0, newline: 1, word: 2, other: 3 } as const;

/** Stands for the end of the text where a letter is expected. */
const endOfText = -1;

/** Marks in the transition table, beside the numbers of states. */
const unknown = 0;
const matched = -1;
const dead = -2;

/** A state of the cached machine: where threads stand, and what was before. */
interface State {
  /** Instructions about to be looked at, sorted, without those that assertions or splits lead to. */
  readonly threads: readonly number[];
  readonly before: number;
}

/** One program with its cache. Not shared between workers; a search runs to its end in one call. */
export interface Machine {
  readonly program: Program;
  /** Instructions and characters looked at since the machine was made: the cost of all searches. */
  steps: number;
  /** State `n` has the number `n + 1` in the table, because 0 means not known yet. */
  readonly states: State[];
  readonly numbers: Map<string, number>;
  table: Int32Array;
  threadCells: number;
  /** Mark of the walk that last visited each instruction. */
  readonly visited: Uint32Array;
  walk: number;
  readonly stack: Int32Array;
}

/** A machine with an empty cache. */
export function machineOf(program: Program): Machine {
  const size = program.instructions.length;
  return {
    program,
    steps: 0,
    states: [],
    numbers: new Map(),
    table: new Int32Array(0),
    threadCells: 0,
    visited: new Uint32Array(size),
    walk: 0,
    stack: new Int32Array(size + 2),
  };
}

/** Whether the pattern matches anywhere in the text. */
export function search(machine: Machine, text: string): boolean {
  const { alphabet } = machine.program;
  const { latin } = alphabet;
  const width = alphabet.size + 1;
  let state = numberOf(machine, startState(machine.program));
  let { table } = machine;
  let flushes = 0;

  let at = 0;
  while (at < text.length) {
    let codePoint = text.charCodeAt(at);
    let units = 1;
    if (codePoint >= 0xd800 && codePoint < 0xdc00) {
      codePoint = text.codePointAt(at) ?? codePoint;
      if (codePoint > 0xffff) units = 2;
    }
    const letter = codePoint < 256 ? (latin[codePoint] ?? 0) : letterOf(alphabet, codePoint);
    let next = table[(state - 1) * width + letter] ?? unknown;
    if (next === unknown) {
      if (isFull(machine)) {
        flushes += 1;
        state = flush(machine, state);
      }
      if (flushes > flushesPerSearchMax)
        return searchUncached(machine, text, at, stateAt(machine, state));
      next = makeTransition(machine, state, letter);
      table = machine.table;
    }
    if (next < 0) {
      machine.steps += at + 1;
      return next === matched;
    }
    state = next;
    at += units;
  }
  machine.steps += text.length + 1;
  return endsInMatch(machine, state, width);
}

function endsInMatch(machine: Machine, number: number, width: number): boolean {
  const cell = (number - 1) * width + width - 1;
  const known = machine.table[cell] ?? unknown;
  if (known !== unknown) return known === matched;
  const found = step(machine, stateAt(machine, number), endOfText) === matched;
  machine.table[cell] = found ? matched : dead;
  return found;
}

/** The plain simulation: the same walk per character, nothing remembered. */
function searchUncached(machine: Machine, text: string, from: number, first: State): boolean {
  let state = first;
  let at = from;
  while (at < text.length) {
    const codePoint = text.codePointAt(at) ?? 0;
    const next = step(machine, state, letterOf(machine.program.alphabet, codePoint));
    if (next === matched) return true;
    if (next === dead) return false;
    state = next;
    at += codePoint > 0xffff ? 2 : 1;
  }
  return step(machine, state, endOfText) === matched;
}

function startState(program: Program): State {
  const looksBack = program.looksAtText || program.looksAtWords || program.looksAtLines;
  return { threads: [program.entry], before: looksBack ? before.textStart : before.other };
}

function stateAt(machine: Machine, number: number): State {
  const state = machine.states[number - 1];
  if (state === undefined) throw new Error(`the machine has no state ${number}`);
  return state;
}

function isFull(machine: Machine): boolean {
  const width = machine.program.alphabet.size + 1;
  const cells = (machine.states.length + 1) * width;
  // Two states always fit, so that a flush makes progress for any alphabet.
  return (
    machine.states.length >= 2 && (cells > tableCellsMax || machine.threadCells > threadCellsMax)
  );
}

/** Empties the cache and answers the number the state has in the new one. */
function flush(machine: Machine, number: number): number {
  const kept = stateAt(machine, number);
  machine.states.length = 0;
  machine.numbers.clear();
  machine.table.fill(unknown);
  machine.threadCells = 0;
  return numberOf(machine, kept);
}

function makeTransition(machine: Machine, number: number, letter: number): number {
  const next = step(machine, stateAt(machine, number), letter);
  const target = typeof next === "number" ? next : numberOf(machine, next);
  machine.table[(number - 1) * (machine.program.alphabet.size + 1) + letter] = target;
  return target;
}

/** Finds or adds a state. The table grows by doubling up to its budget. */
function numberOf(machine: Machine, state: State): number {
  const key = `${state.before}:${state.threads.join()}`;
  const known = machine.numbers.get(key);
  if (known !== undefined) return known;

  machine.states.push(state);
  machine.threadCells += state.threads.length;
  const number = machine.states.length;
  machine.numbers.set(key, number);
  const cells = number * (machine.program.alphabet.size + 1);
  if (cells > machine.table.length) {
    const grown = new Int32Array(Math.max(cells, machine.table.length * 2));
    grown.set(machine.table);
    machine.table = grown;
  }
  return number;
}

/** One character being taken from a state. */
interface Step {
  readonly machine: Machine;
  /** The letter behind the threads, or `endOfText`. */
  readonly letter: number;
  readonly sides: Sides;
  /** Where threads stand afterwards. */
  readonly targets: number[];
}

/**
 * Takes one character (or the end of the text) from a state.
 *
 * Threads wait in front of assertions, because an assertion looks at both sides: only now is the
 * character behind it known.
 */
function step(
  machine: Machine,
  state: State,
  letter: number,
): State | typeof matched | typeof dead {
  const { program } = machine;
  const taken: Step = {
    machine,
    letter,
    sides: sidesOf(program, state.before, letter),
    targets: [],
  };
  beginWalk(machine);
  for (const thread of state.threads) if (reachesMatch(taken, thread)) return matched;
  if (letter === endOfText) return dead;
  if (!program.anchored) taken.targets.push(program.entry);
  if (taken.targets.length === 0) return dead;
  return { threads: sortedUnique(taken.targets), before: beforeAfter(program, letter) };
}

/** A new mark. Marks are 32 bits wide; at their end all old ones are wiped, or a loop would not be noticed. */
function beginWalk(machine: Machine): void {
  if (machine.walk === 0xffff_ffff) {
    machine.visited.fill(0);
    machine.walk = 0;
  }
  machine.walk += 1;
}

/** Follows one thread over splits and assertions; collects where it may go, or answers that it matched. */
function reachesMatch(taken: Step, thread: number): boolean {
  const { machine, letter } = taken;
  const { stack, visited, walk } = machine;
  let depth = 1;
  stack[0] = thread;
  while (depth > 0) {
    depth -= 1;
    const at = stack[depth] ?? 0;
    if (visited[at] === walk) continue;
    visited[at] = walk;
    machine.steps += 1;
    const instruction = machine.program.instructions[at];
    if (instruction === undefined) continue;
    if (instruction.op === "match") return true;
    if (instruction.op !== "letters") depth = pushFollowers(stack, depth, instruction, taken.sides);
    else if (letter !== endOfText && hasLetter(instruction.letters, letter))
      taken.targets.push(instruction.next);
  }
  return false;
}

/** A visited instruction pushes at most two, and is visited once: the stack holds the program plus one. */
function pushFollowers(
  stack: Int32Array,
  depth: number,
  instruction: Extract<Instruction, { op: "split" | "assert" }>,
  sides: Sides,
): number {
  if (instruction.op === "assert") {
    if (!holds(instruction.assertion, sides)) return depth;
    stack[depth] = instruction.next;
    return depth + 1;
  }
  stack[depth] = instruction.other;
  stack[depth + 1] = instruction.next;
  return depth + 2;
}

function sortedUnique(numbers: number[]): readonly number[] {
  numbers.sort((a, b) => a - b);
  return numbers.filter((number, index) => index === 0 || number !== numbers[index - 1]);
}

interface Sides {
  readonly before: number;
  readonly atEnd: boolean;
  readonly newlineNext: boolean;
  readonly wordNext: boolean;
}

function sidesOf(program: Program, beforeMark: number, letter: number): Sides {
  const atEnd = letter === endOfText;
  return {
    before: beforeMark,
    atEnd,
    newlineNext: !atEnd && program.alphabet.isNewline[letter] === true,
    wordNext: !atEnd && program.alphabet.isWord[letter] === true,
  };
}

function holds(assertion: Assertion, sides: Sides): boolean {
  switch (assertion) {
    case "textStart":
      return sides.before === before.textStart;
    case "textEnd":
      return sides.atEnd;
    case "lineStart":
      return sides.before === before.textStart || sides.before === before.newline;
    case "lineEnd":
      return sides.atEnd || sides.newlineNext;
    case "wordBoundary":
      return (sides.before === before.word) !== sides.wordNext;
    case "notWordBoundary":
      return (sides.before === before.word) === sides.wordNext;
  }
}

/** The context after a character. Differences that the program can not tell would only split states. */
function beforeAfter(program: Program, letter: number): number {
  if (program.looksAtLines && program.alphabet.isNewline[letter] === true) return before.newline;
  if (program.looksAtWords && program.alphabet.isWord[letter] === true) return before.word;
  return before.other;
}
