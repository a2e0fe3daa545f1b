/**
 * Regular expressions in linear time, for rules that match clients' text.
 *
 * The engine of JavaScript backtracks: `(a+)+$` on sixty characters takes longer than anyone waits,
 * so a router rule and a chosen query could stop the whole process. This one takes at most
 * pattern × text steps and a fixed amount of memory. The price: no back-references, no look-around,
 * no groups in the answer.
 *
 * Syntax, as in RE2: literals, `.`, `[…]` with ranges, negation and `[:alpha:]`, `\d \w \s \D \W \S`
 * (ASCII), `^ $ \A \z \b \B`, `|`, `(…)`, `(?:…)`, `(?P<name>…)`, `(?i) (?m) (?s)` alone or as
 * `(?i:…)`, `* + ? {n} {n,} {n,m}` and their lazy forms, `\t \n \r \f \v \xHH \uHHHH \x{…} \u{…}`.
 * Text is matched by code points, and `$` means the end of the text unless `(?m)` is on.
 */
import { ok, type Result } from "../result.ts";
import { machineOf, search } from "./match.ts";
import { parseRegex } from "./parse.ts";
import { compileProgram } from "./program.ts";
import type { RegexError } from "./syntax.ts";

/** Switches for the whole pattern; the pattern's own `(?-i)` may undo them. */
export interface RegexFlags {
  readonly ignoreCase?: boolean;
}

/** A compiled pattern. Keeps a cache of at most a megabyte; safe to use from one thread at a time. */
export interface LinearRegex {
  /** Whether the pattern matches anywhere in the text. Time: at most pattern × text. */
  test(text: string): boolean;
}

/** Compiles a pattern, or says where and why it is refused. Never throws on any input. */
export function compileRegex(
  pattern: string,
  flags: RegexFlags = {},
): Result<LinearRegex, RegexError> {
  const parsed = parseRegex(pattern, flags.ignoreCase === true);
  if (!parsed.ok) return parsed;
  const program = compileProgram(parsed.value);
  if (!program.ok) return program;
  const machine = machineOf(program.value);
  return ok({ test: (text) => search(machine, text) });
}
