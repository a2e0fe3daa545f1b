/**
 * Finds the ends of tokens that go on for long, part by part, and remembers them for whoever walks over the same
 * text: one word of 16 MiB takes a tenth of a second to look at, and a dozen readers come by.
 *
 * What is a part of a token `scan.ts` says. A walk in steps stops after a part, and its token is read again from its
 * beginning in the next step: that scan then goes on where it stood.
 */
import type { LexRules } from "../dialect.ts";
import { LastTexts, longTextUnits } from "../reading/reading.ts";

/** UTF-16 units of a part: less than a tenth of a millisecond. */
const partUnits = 16 * 1024;

/** A text, and what is known of its long tokens; nothing for a short text, which has none. */
export interface Scanned {
  readonly sql: string;
  readonly rules: LexRules;
  readonly far: FarEnds | undefined;
}

/** The search for one end, on its way. */
export interface Scan {
  readonly from: number;
  /** What closes the token; empty where it has no such sign. */
  readonly sign: string;
  at: number;
  /** Of brackets that are open, or of digits that came. */
  count: number;
  /** Set once it is found; -1 where nothing closes the token. */
  end: number | undefined;
}

/** Moves a scan to the limit or beyond, or sets its end. At the limit that is the text's, it sets it always. */
export type ScanPart = (scan: Scan, text: Scanned, limit: number) => void;

type Ends = Map<ScanPart, Map<number, number>>;

/** By lexis, because a text has other tokens in another. */
const knownEnds = new Map<LexRules, LastTexts<Ends>>();

/** The long tokens of a text. Undefined for a short one. */
export function farEndsOf(sql: string, rules: LexRules, inSteps = false): FarEnds | undefined {
  if (sql.length <= longTextUnits) return undefined;
  let texts = knownEnds.get(rules);
  if (texts === undefined) knownEnds.set(rules, (texts = new LastTexts()));
  const known = texts.get(sql)?.found ?? new Map();
  texts.put(sql, known);
  return new FarEnds(known, inSteps);
}

export class FarEnds {
  readonly #known: Ends;
  /** Scans of the token that is being read. */
  readonly #begun = new Map<ScanPart, Scan>();
  readonly inSteps: boolean;
  /** The token was not read to its end: what was found of it says nothing. */
  isPaused = false;

  constructor(known: Ends, inSteps: boolean) {
    this.#known = known;
    this.inSteps = inSteps;
  }

  /** A walk in steps reads the token at its place, or goes on with it. */
  goOn(): void {
    this.isPaused = false;
  }

  /** The token was read: another begins. */
  endToken(): void {
    if (this.#begun.size > 0) this.#begun.clear();
  }

  find(part: ScanPart, scan: Scan, text: Scanned): number {
    const known = this.#known.get(part)?.get(scan.from);
    if (known !== undefined) return known;
    // The token is read again: what comes behind its first end has time until then.
    if (this.isPaused) return scan.from;
    const begun = this.#begun.get(part);
    const going = begun?.from === scan.from ? begun : scan;
    do {
      part(going, text, Math.min(going.at + partUnits, text.sql.length));
    } while (going.end === undefined && !this.inSteps);
    if (going.end === undefined) {
      this.#begun.set(part, going);
      this.isPaused = true;
      return scan.from;
    }
    const to = going.end < 0 ? text.sql.length : going.end;
    if (to - scan.from > partUnits) this.#keep(part, scan.from, going.end);
    return going.end;
  }

  #keep(part: ScanPart, from: number, end: number): void {
    const ends = this.#known.get(part);
    if (ends === undefined) this.#known.set(part, new Map([[from, end]]));
    else ends.set(from, end);
  }
}

/** The end of a token of which `part` knows the rule. */
export function farEnd(text: Scanned, part: ScanPart, from: number, sign = ""): number {
  const scan: Scan = { from, sign, at: from, count: 0, end: undefined };
  if (text.far !== undefined) return text.far.find(part, scan, text);
  while (scan.end === undefined) part(scan, text, text.sql.length);
  return scan.end;
}

/** A token that goes on as long as its characters are of one sort. */
export interface Run {
  /** Past those characters, or the limit. */
  readonly upTo: (sql: string, from: number, limit: number, rules: LexRules) => number;
  readonly part: ScanPart;
}

export function runOf(upTo: Run["upTo"]): Run {
  return {
    upTo,
    part: (scan, { sql, rules }, limit) => {
      scan.at = upTo(sql, scan.at, limit, rules);
      if (scan.at < limit || limit === sql.length) scan.end = scan.at;
    },
  };
}

/** Characters that are looked at without a thought of how many may follow. */
const nearUnits = 256;

/** The end of a token that begins at `from`; the offset itself where none does. */
export function runEnd(text: Scanned, { upTo, part }: Run, from: number): number {
  const { sql, rules } = text;
  const limit = Math.min(from + nearUnits, sql.length);
  const at = upTo(sql, from, limit, rules);
  return at < limit || limit === sql.length ? at : farEnd(text, part, from);
}
