/**
 * Walks over the tokens of one statement and knows where it ends.
 *
 * A semicolon ends a statement, except inside the body of a routine (`CREATE FUNCTION … BEGIN …; END`)
 * or of a PostgreSQL rule, in dialects whose engine reads such a text as one statement. There is no grammar
 * here, so bodies are found by counting words. A statement in which that mattered is marked `compound`, and a
 * policy must not trust its end.
 */
import { upperWord, type SqlCursor } from "./cursor.ts";
import { nextToken } from "./lex.ts";

/** A piece of a text; `end` is the offset after its last character. In UTF-16 units. */
export interface StatementSlice {
  readonly start: number;
  readonly end: number;
}

/** The walk over one statement. Made anew for each statement on the same cursor. */
export interface StatementWalk {
  readonly cursor: SqlCursor;
  /** Offset of the first token that is not white space; -1 before it was met. Comments count. */
  start: number;
  /** End of the last token that is not white space, without the semicolon. */
  end: number;
  /** Number of tokens met that mean something. */
  tokenCount: number;
  /** The walk ended at a semicolon, not at the end of the text. */
  atSemicolon: boolean;
  /** A semicolon was taken for part of a body. */
  compound: boolean;
  body: BodyPhase;
  /** Depth of the body that is open: of `BEGIN … END`, or of brackets in a rule. */
  bodyDepth: number;
  /** The word before, in upper case, while a head or body is followed. */
  lastWord: string;
}

/** Whether the statement has a body with semicolons: not decided, in the head, following it, or none. */
type BodyPhase = "first" | "createHead" | "definer" | "withHead" | "routine" | "rule" | "none";

/** A walk from where the cursor stands. */
export function walkStatement(cursor: SqlCursor): StatementWalk {
  return {
    cursor,
    start: -1,
    end: cursor.end,
    tokenCount: 0,
    atSemicolon: false,
    compound: false,
    body: cursor.rules.compoundBodies ? "first" : "none",
    bodyDepth: 0,
    lastWord: "",
  };
}

/** Moves to the statement's next token that means something. False at its end. */
export function nextInStatement(walk: StatementWalk): boolean {
  let met = stepInStatement(walk);
  while (met === "space" || met === "part") met = stepInStatement(walk);
  return met === "token";
}

/**
 * Moves by one token, of whatever kind: white space and comments are `space`. On a cursor in steps it may be a `part`:
 * the token is not read to its end, and the next call goes on with it.
 */
export function stepInStatement(walk: StatementWalk): "token" | "space" | "part" | "end" {
  const { cursor } = walk;
  if (!nextToken(cursor)) return "end";
  if (cursor.far?.isPaused === true) return "part";
  if (cursor.kind === "whitespace") return "space";
  if (cursor.kind === "semicolon") {
    if (walk.bodyDepth === 0) {
      walk.atSemicolon = true;
      return "end";
    }
    walk.compound = true;
  }
  if (walk.start < 0) walk.start = cursor.start;
  walk.end = cursor.end;
  if (cursor.kind === "comment" || cursor.kind === "versionComment") return "space";
  walk.tokenCount += 1;
  if (walk.body !== "none") followBody(walk);
  return "token";
}

/** Moves past the next statement that is not empty, and returns where it is. Undefined at the end. */
export function takeStatement(cursor: SqlCursor): StatementSlice | undefined {
  for (;;) {
    const walk = walkStatement(cursor);
    while (nextInStatement(walk));
    if (walk.tokenCount > 0) return { start: walk.start, end: walk.end };
    if (!walk.atSemicolon) return undefined;
  }
}

/** Longest head with a definer, in tokens: `CREATE OR REPLACE DEFINER = 'a'@'b' AGGREGATE FUNCTION` has ten. */
const headTokensMax = 12;

const headWords: ReadonlySet<string> = new Set(["OR", "REPLACE", "AGGREGATE", "CONSTRAINT"]);

const routineWords: ReadonlySet<string> = new Set(["FUNCTION", "PROCEDURE", "TRIGGER", "EVENT"]);

function followBody(walk: StatementWalk): void {
  const word = upperWord(walk.cursor);
  switch (walk.body) {
    case "first":
      walk.body = word === "CREATE" ? "createHead" : word === "WITH" ? "withHead" : "none";
      break;
    case "withHead":
      walk.body = word === "FUNCTION" ? "routine" : "none";
      break;
    case "createHead":
      walk.body = afterCreate(word);
      break;
    case "definer":
      walk.body = afterDefiner(walk, word);
      break;
    case "routine":
      followRoutine(walk, word);
      break;
    case "rule":
      if (walk.cursor.kind === "open") walk.bodyDepth += 1;
      if (walk.cursor.kind === "close" && walk.bodyDepth > 0) walk.bodyDepth -= 1;
      break;
    case "none":
      break;
  }
  walk.lastWord = word;
}

function afterCreate(word: string): BodyPhase {
  if (routineWords.has(word)) return "routine";
  if (word === "RULE") return "rule";
  if (word === "DEFINER") return "definer";
  return headWords.has(word) ? "createHead" : "none";
}

/** The user after `DEFINER =` may be words, strings or quoted names. */
function afterDefiner(walk: StatementWalk, word: string): BodyPhase {
  if (routineWords.has(word)) return "routine";
  if (word === "VIEW" || walk.tokenCount > headTokensMax) return "none";
  return "definer";
}

/** `IF`, `LOOP` and the like are closed by `END IF`, so their `END` closes no `BEGIN`. */
const endedByName: ReadonlySet<string> = new Set(["IF", "LOOP", "WHILE", "REPEAT", "FOR"]);

function followRoutine(walk: StatementWalk, word: string): void {
  if (word === "BEGIN") walk.bodyDepth += 1;
  if (word === "CASE" && walk.bodyDepth > 0 && walk.lastWord !== "END") walk.bodyDepth += 1;
  if (word === "END" && walk.bodyDepth > 0) walk.bodyDepth -= 1;
  if (endedByName.has(word) && walk.lastWord === "END") walk.bodyDepth += 1;
}
