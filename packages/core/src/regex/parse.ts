/**
 * Reads a pattern of the RE2-like subset into a tree.
 *
 * Refuses, with the position, what can not be matched in linear time (back-references, look-around,
 * atomic groups) and what is just not built (Unicode properties): a rule that silently meant something
 * else would misroute queries.
 */
import { err, ok, type Result } from "../result.ts";
import { anyChar, foldCase, notNewline, type CharSet } from "./charSet.ts";
import { takeBracketClass, takeCharEscape, takeClassEscape } from "./classes.ts";
import {
  fail,
  looksAt,
  peek,
  take,
  takeCodePoint,
  takeNumber,
  type PatternReader,
} from "./reader.ts";
import {
  groupDepthMax,
  patternLengthMax,
  repeatCountMax,
  type Assertion,
  type RegexError,
  type RegexNode,
} from "./syntax.ts";

/** What `(?i)`, `(?m)` and `(?s)` switch, for the rest of the group they stand in. */
interface Modes {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
}

/** A pattern as a tree, or the first problem in it. Cost: linear in the pattern. */
export function parseRegex(pattern: string, ignoreCase: boolean): Result<RegexNode, RegexError> {
  if (pattern.length > patternLengthMax) {
    return err({
      at: patternLengthMax,
      reason: `the pattern is longer than ${patternLengthMax} characters`,
    });
  }
  const reader: PatternReader = { pattern, at: 0, error: undefined };
  const node = takeChoice(reader, { ignoreCase, multiline: false, dotAll: false }, 0);
  if (node !== undefined && reader.at < pattern.length)
    fail(reader, reader.at, "this ) closes no group");
  if (node === undefined || reader.error !== undefined) {
    return err(reader.error ?? { at: reader.at, reason: "the pattern can not be read" });
  }
  return ok(node);
}

/** Alternatives up to the end of the group or of the pattern. */
function takeChoice(reader: PatternReader, outer: Modes, depth: number): RegexNode | undefined {
  if (depth > groupDepthMax)
    return fail(reader, reader.at, `groups are nested deeper than ${groupDepthMax}`);
  const options: RegexNode[] = [];
  let items: RegexNode[] = [];
  let modes = outer;

  while (reader.at < reader.pattern.length && peek(reader) !== ")") {
    if (take(reader, "|")) {
      options.push(concatOf(items));
      items = [];
      continue;
    }
    // A bare (?i) changes the modes of what follows, also across a bar, as in RE2.
    const switched = takeModeSwitch(reader, modes);
    if (reader.error !== undefined) return undefined;
    if (switched !== undefined) {
      modes = switched;
      continue;
    }
    const item = takeRepeated(reader, modes, depth);
    if (item === undefined) return undefined;
    items.push(item);
  }
  options.push(concatOf(items));
  const [only] = options;
  return options.length === 1 && only !== undefined ? only : { kind: "choice", options };
}

function concatOf(items: readonly RegexNode[]): RegexNode {
  const [only] = items;
  if (only === undefined) return { kind: "empty" };
  return items.length === 1 ? only : { kind: "concat", items };
}

/** `(?i)` and the like without a colon. Undefined, with nothing taken, when something else comes. */
function takeModeSwitch(reader: PatternReader, modes: Modes): Modes | undefined {
  if (!looksAt(reader, "(?")) return undefined;
  const start = reader.at;
  reader.at += 2;
  const switched = takeModes(reader, modes);
  if (switched !== undefined && take(reader, ")")) return switched;
  reader.at = start;
  return undefined;
}

/** Letters such as `im-s`; undefined when there is none. */
function takeModes(reader: PatternReader, modes: Modes): Modes | undefined {
  const letters =
    /^[ims]*(?:-[ims]+)?/.exec(reader.pattern.slice(reader.at, reader.at + 16))?.[0] ?? "";
  if (letters === "") return undefined;
  reader.at += letters.length;
  const [on = "", off = ""] = letters.split("-");
  return {
    ignoreCase: (modes.ignoreCase || on.includes("i")) && !off.includes("i"),
    multiline: (modes.multiline || on.includes("m")) && !off.includes("m"),
    dotAll: (modes.dotAll || on.includes("s")) && !off.includes("s"),
  };
}

function takeRepeated(reader: PatternReader, modes: Modes, depth: number): RegexNode | undefined {
  const item = takeAtom(reader, modes, depth);
  if (item === undefined) return undefined;

  const at = reader.at;
  const bounds = takeQuantifier(reader);
  if (reader.error !== undefined) return undefined;
  if (bounds === undefined) return item;
  // Laziness changes which match is found, never whether there is one.
  take(reader, "?");
  const again = reader.at;
  if (peek(reader) === "+") return fail(reader, again, "possessive quantifiers are not supported");
  if (takeQuantifier(reader) !== undefined)
    return fail(reader, again, "a quantifier can not follow a quantifier");
  if (reader.error !== undefined) return undefined;
  return { kind: "repeat", item, min: bounds.min, max: bounds.max, at };
}

interface Bounds {
  readonly min: number;
  readonly max: number | undefined;
}

/** `* + ? {n} {n,} {n,m}`. A brace that is none of these is a literal, as in RE2. */
function takeQuantifier(reader: PatternReader): Bounds | undefined {
  if (take(reader, "*")) return { min: 0, max: undefined };
  if (take(reader, "+")) return { min: 1, max: undefined };
  if (take(reader, "?")) return { min: 0, max: 1 };
  if (peek(reader) !== "{") return undefined;

  const start = reader.at;
  reader.at += 1;
  const min = takeNumber(reader);
  const comma = min !== undefined && take(reader, ",");
  const max = comma ? takeNumber(reader) : min;
  if (min === undefined || !take(reader, "}")) {
    reader.at = start;
    return undefined;
  }
  if (min > repeatCountMax || (max ?? 0) > repeatCountMax) {
    return fail(reader, start, `a quantifier can not count beyond ${repeatCountMax}`);
  }
  if (max !== undefined && max < min)
    return fail(reader, start, "the quantifier's bounds are in reverse order");
  return { min, max };
}

function takeAtom(reader: PatternReader, modes: Modes, depth: number): RegexNode | undefined {
  const at = reader.at;
  switch (peek(reader)) {
    case "(":
      return takeGroup(reader, modes, depth);
    case "[": {
      const set = takeBracketClass(reader, modes.ignoreCase);
      return set === undefined ? undefined : setOf(set);
    }
    case ".":
      reader.at += 1;
      return setOf(modes.dotAll ? anyChar : notNewline);
    case "^":
      reader.at += 1;
      return assertOf(modes.multiline ? "lineStart" : "textStart");
    case "$":
      reader.at += 1;
      return assertOf(modes.multiline ? "lineEnd" : "textEnd");
    case "*":
    case "+":
    case "?":
      return fail(reader, at, "the quantifier has nothing to repeat");
    case "\\":
      return takeEscape(reader, modes);
    default:
      return literalOf(takeCodePoint(reader), modes);
  }
}

const assertionEscapes: ReadonlyMap<string, Assertion> = new Map([
  ["A", "textStart"],
  ["z", "textEnd"],
  ["b", "wordBoundary"],
  ["B", "notWordBoundary"],
]);

function takeEscape(reader: PatternReader, modes: Modes): RegexNode | undefined {
  const assertion = assertionEscapes.get(peek(reader, 1));
  if (assertion !== undefined) {
    reader.at += 2;
    return assertOf(assertion);
  }
  const set = takeClassEscape(reader);
  if (set !== undefined) return setOf(set);
  const codePoint = takeCharEscape(reader);
  return codePoint === undefined ? undefined : literalOf(codePoint, modes);
}

function takeGroup(reader: PatternReader, modes: Modes, depth: number): RegexNode | undefined {
  const start = reader.at;
  reader.at += 1;
  const inner = takeGroupHead(reader, modes, start);
  if (inner === undefined) return undefined;
  const body = takeChoice(reader, inner, depth + 1);
  if (body === undefined) return undefined;
  if (!take(reader, ")")) return fail(reader, start, "the group is not closed by )");
  return body;
}

/** Everything between `(` and the body. Answers the modes of the body. */
function takeGroupHead(reader: PatternReader, modes: Modes, start: number): Modes | undefined {
  if (!take(reader, "?")) return modes;
  if (take(reader, ":")) return modes;
  for (const sign of ["=", "!", "<=", "<!"]) {
    if (looksAt(reader, sign)) {
      return fail(
        reader,
        start,
        "look-around is not supported: it can not be matched in linear time",
      );
    }
  }
  const name = /^P?<[A-Za-z_][A-Za-z0-9_]*>/.exec(
    reader.pattern.slice(reader.at, reader.at + 128),
  )?.[0];
  if (name !== undefined) {
    reader.at += name.length;
    return modes;
  }
  const inner = takeModes(reader, modes);
  if (inner !== undefined && take(reader, ":")) return inner;
  return fail(reader, start, "this kind of group is not supported");
}

function literalOf(codePoint: number, modes: Modes): RegexNode {
  const set: CharSet = [codePoint, codePoint];
  return setOf(modes.ignoreCase ? foldCase(set) : set);
}

function setOf(set: CharSet): RegexNode {
  return { kind: "set", set };
}

function assertOf(assertion: Assertion): RegexNode {
  return { kind: "assert", assertion };
}
