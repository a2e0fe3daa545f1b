/**
 * Finds where a token ends that a sign closes: comments and quoted texts of all kinds. Each function takes the offset
 * behind the opening sign and returns the one behind the closing sign, or -1 where there is none.
 *
 * Every function is linear in what it skips. What goes on for long is looked at in parts (`farEnd.ts`).
 */
import { farEnd, runEnd, runOf, type ScanPart, type Scanned } from "./farEnd.ts";
import { isDigitAt, isWordBeyondAscii, letterOrDigit } from "./scan.ts";

/** How comments stand in comments: not at all, one level of them, or any number. */
export type Nesting = "none" | "once" | "any";

/** Past a block comment whose opening mark ends at `from`. */
export function commentEnd(text: Scanned, from: number, nesting: Nesting): number {
  if (nesting === "none") return farEnd(text, searched, from, "*/");
  return farEnd(text, nesting === "once" ? nestedOnce : nested, from);
}

/** Up to the next closing sign, whatever stands before it. */
const searched: ScanPart = (scan, { sql }, limit) => {
  const { sign } = scan;
  // A sign may stand across the limit, and be longer than a part.
  const to = Math.max(limit, scan.at + sign.length) + sign.length - 1;
  const at = sql.slice(scan.at, to).indexOf(sign);
  if (at >= 0) scan.end = scan.at + at + sign.length;
  else if (to >= sql.length) scan.end = -1;
  else scan.at = to - sign.length + 1;
};

const nestedOnce = nestedTo(1);
const nested = nestedTo(Number.POSITIVE_INFINITY);

function nestedTo(depthMax: number): ScanPart {
  return (scan, { sql }, limit) => {
    const last = sql.length - 1;
    let at = scan.at;
    for (; at < limit && at < last; at += 1) {
      const code = sql.charCodeAt(at);
      if (code === 0x2a && sql.charCodeAt(at + 1) === 0x2f) {
        at += 1;
        if (scan.count === 0) return void (scan.end = at + 1);
        scan.count -= 1;
      } else if (code === 0x2f && sql.charCodeAt(at + 1) === 0x2a && scan.count < depthMax) {
        scan.count += 1;
        at += 1;
      }
    }
    scan.at = at;
    if (at >= last) scan.end = -1;
  };
}

/** Past the quote that closes a text whose opening quote ends at `from`. A doubled quote does not close it. */
export function quotedEnd(text: Scanned, from: number, quote: number, backslash: boolean): number {
  const sign = String.fromCharCode(quote);
  if (backslash) return farEnd(text, escaped, from, sign);
  const { sql } = text;
  const at = sql.indexOf(sign, from);
  if (at < 0) return -1;
  return sql.charCodeAt(at + 1) === quote ? farEnd(text, doubled, from, sign) : at + 1;
}

/** Characters of a string that are looked at one by one before the search for its next sign begins. */
const nearUnits = 256;
const searchedUnits = { first: 1024, most: 64 * 1024 } as const;

const escaped: ScanPart = (scan, { sql }, limit) => {
  const { sign } = scan;
  const code = sign.charCodeAt(0);
  let plain = 0;
  let at = scan.at;
  for (; at < limit; at += 1) {
    const unit = sql.charCodeAt(at);
    plain += 1;
    if (unit === 0x5c) {
      at += 1;
      plain = 0;
    } else if (unit === code) {
      if (sql.charCodeAt(at + 1) !== code) return void (scan.end = at + 1);
      at = pairsEnd(sql, at, sign) - 1;
      plain = 0;
    } else if (plain === nearUnits) {
      at = plainEnd(sql, at, sign) - 1;
      plain = 0;
    }
  }
  scan.at = at;
  if (at >= sql.length) scan.end = -1;
};

/**
 * The offset of the next quote or backslash, or of the end of the text. A string of sixty megabytes is one
 * token, and looking at each of its characters takes twenty times as long as a search. Each search stops after
 * some units, because the other sign may be near and this one far away, or nowhere.
 */
function plainEnd(sql: string, from: number, quote: string): number {
  let units: number = searchedUnits.first;
  let at = from;
  while (at < sql.length) {
    const part = sql.slice(at, at + units);
    const [one, other] = [part.indexOf(quote), part.indexOf("\\")];
    if (one >= 0 || other >= 0) return at + (one < 0 || (other >= 0 && other < one) ? other : one);
    at += units;
    units = Math.min(units * 2, searchedUnits.most);
  }
  return sql.length;
}

const doubled: ScanPart = (scan, { sql }, limit) => {
  const { sign } = scan;
  const code = sign.charCodeAt(0);
  while (scan.at < limit) {
    const at = sql.indexOf(sign, scan.at);
    if (at < 0) return void (scan.end = -1);
    if (sql.charCodeAt(at + 1) !== code) return void (scan.end = at + 1);
    // A text of quotes only: searching from each of them costs ten times as much.
    scan.at = pairsEnd(sql, at, sign);
  }
  if (scan.at >= sql.length) scan.end = -1;
};

const nearPairs = 32;
const quotesPerRun = 4096;
const runs: ReadonlyMap<string, string> = new Map(
  ["'", '"', "`"].map((quote) => [quote, quote.repeat(quotesPerRun)]),
);

/** Past the doubled quotes at the offset. Long runs are compared piece by piece, in a tenth of the time. */
function pairsEnd(sql: string, from: number, quote: string): number {
  const code = quote.charCodeAt(0);
  const near = from + 2 * nearPairs;
  let at = from;
  while (sql.charCodeAt(at) === code && sql.charCodeAt(at + 1) === code) {
    at += 2;
    if (at !== near) continue;
    const run = runs.get(quote);
    while (sql.slice(at, at + quotesPerRun) === run) at += quotesPerRun;
  }
  return at;
}

/** Past a dollar quote that begins at `from`; -1 when it is not closed, undefined when none begins there. */
export function dollarQuoteEnd(text: Scanned, from: number): number | undefined {
  const tagEnd = dollarTagEnd(text, from + 1);
  if (tagEnd === undefined) return undefined;
  const close = farEnd(text, searched, tagEnd, text.sql.slice(from, tagEnd));
  if (close >= 0) return close;
  // A Trino without dollar quotes would read on after the two characters, and then fail on them.
  return text.rules.dollarQuotes === "untagged" ? undefined : -1;
}

/** Past the second dollar of `$tag$`. */
function dollarTagEnd(text: Scanned, from: number): number | undefined {
  const { sql, rules } = text;
  if (rules.dollarQuotes === "none") return undefined;
  if (sql.charCodeAt(from) === 0x24) return from + 1;
  if (rules.dollarQuotes === "untagged") return undefined;
  if (rules.dollarQuotes === "tagged" && isDigitAt(sql, from)) return undefined;
  const at = runEnd(text, tag, from);
  return sql.charCodeAt(at) === 0x24 ? at + 1 : undefined;
}

const tag = runOf((sql, from, limit, rules) => {
  const asciiOnly = rules.dollarQuotes === "tagsWithDigits";
  let at = from;
  while (at < limit) {
    const code = sql.charCodeAt(at);
    const inTag =
      code < 128 ? letterOrDigit[code] === true : !asciiOnly && isWordBeyondAscii(code, rules);
    if (!inTag) break;
    at += 1;
  }
  return at;
});
