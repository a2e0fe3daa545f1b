/**
 * Heads of HTTP/1.1 requests that can be read in one way only, which is how nearly every client writes them: a method with a
 * path, names that come once, text of printable ASCII, a body by its length or none. Whatever else a request may say is not
 * read here (RFC 9112 has a lot of it), and nothing is refused: another reader gets those bytes as they came.
 */

import { SameLines, type LinesMemo, type ReadLines } from "./sameLines.ts";

export interface PlainHead {
  readonly method: string;
  /** The path as it was sent, with its question. */
  readonly url: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turns, as sent. */
  readonly rawHeaders: readonly string[];
  /** Of all requests with these lines; absent where they are not kept. */
  readonly memo: LinesMemo | undefined;
  /** Bytes of the body. */
  readonly bodyBytes: number;
  /** Where the body begins. */
  readonly bodyAt: number;
}

/** `more`: no whole head yet · `other`: not of this kind. */
export type PlainRead = PlainHead | "more" | "other";

/** The name of a line, with the colon behind it, and in lower case. */
interface KnownName {
  readonly sent: string;
  readonly name: string;
  readonly lower: string;
}

const ending = Buffer.from("\r\n\r\n");
/** Longer heads are another reader's. */
const headBytesMax = 16 * 1024;
const startLine = /^(GET|POST|PUT|DELETE) (\/[!"$-~]*) HTTP\/1\.1$/;
/** All lines of headers, each with its end, from `lastIndex` on. */
const headerLines = /(?:[\w!#$%&'*+.^`|~-]+:[ -~]*\r\n)+$/y;
const bodyLength = /^\d{1,9}$/;
/** These say how the message is framed or what else becomes of the connection, or mean something else to `node:http`. */
const others: ReadonlySet<string> = new Set([
  "__proto__",
  "expect",
  "proxy-connection",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const linesMax = 100;

/** What a connection's last heads were like. */
export class LastHeads {
  /** The names of the last one, in their order. */
  names: readonly KnownName[] = [];
  /** Lines that came before: of those that bring a statement, and of those that ask for more of an answer. */
  lines: readonly SameLines[] = [];
  /** How many more may be kept before one of them comes again: some clients send other ones each time. */
  linesLeft = linesLeftMax;

  /** The credential among them goes with them, whoever else still knows them. */
  forget(): void {
    for (const { memo } of this.lines) memo.presented = undefined;
    this.lines = [];
    this.linesLeft = linesLeftMax;
  }
}

const linesKept = 2;
const linesLeftMax = 8;

/** How most requests of some clients begin. */
const usualStart = Buffer.from("POST / HTTP/1.1\r\n", "latin1");
const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/** `bytes` begin with a request. */
export function readPlainHead(bytes: Buffer, last: LastHeads): PlainRead {
  const again = last.lines.length === 0 ? undefined : readAgain(bytes, last);
  if (again !== undefined) return again;
  const end = bytes.indexOf(ending);
  if (end < 0) return "more";
  if (end > headBytesMax) return "other";
  const text = bytes.toString("latin1", 0, end + 2);
  const startEnd = text.indexOf("\r\n");
  const [, method, url] = startLine.exec(text.slice(0, startEnd)) ?? [];
  if (method === undefined || url === undefined) return "other";
  const lines = linesOf(text, startEnd + 2, last);
  if (lines === undefined) return "other";
  const { headers, rawHeaders, bodyBytes } = lines;
  const memo = keep(`${text}\r\n`, startEnd + 2, lines, last);
  return { method, url, headers, rawHeaders, memo, bodyBytes, bodyAt: end + ending.length };
}

function keep(text: string, from: number, read: ReadLines, last: LastHeads): LinesMemo | undefined {
  if (last.linesLeft === 0) return undefined;
  last.linesLeft -= 1;
  const kept = SameLines.of(text, from, read);
  if (kept === undefined) return undefined;
  last.lines = [kept, ...last.lines.slice(0, linesKept - 1)];
  return kept.memo;
}

/** A head with lines that came before; undefined for any other, which may be of this kind as well. */
function readAgain(bytes: Buffer, last: LastHeads): PlainHead | undefined {
  let method = "POST";
  let url = "/";
  let from = usualStart.length;
  if (!isUsual(bytes)) {
    from = bytes.indexOf(lineFeed) + 1;
    if (from < 2 || from > headBytesMax || bytes[from - 2] !== carriageReturn) return undefined;
    const start = startLine.exec(bytes.toString("latin1", 0, from - 2));
    if (start === null) return undefined;
    method = start[1] ?? "";
    url = start[2] ?? "";
  }
  const known = last.lines;
  for (let index = 0; index < known.length; index += 1) {
    const one = known[index];
    const bodyAt = one === undefined ? -1 : one.endIn(bytes, from);
    if (one === undefined || bodyAt < 0) continue;
    if (bodyAt - ending.length > headBytesMax) return undefined;
    last.linesLeft = linesLeftMax;
    const bodyBytes = one.bodyBytesIn(bytes, from);
    const { headers, rawHeaders } = bodyBytes === one.bodyBytes ? one : one.withBody(bodyBytes);
    return { method, url, headers, rawHeaders, memo: one.memo, bodyBytes, bodyAt };
  }
  return undefined;
}

function isUsual(bytes: Uint8Array): boolean {
  for (let at = 0; at < usualStart.length; at += 1) if (bytes[at] !== usualStart[at]) return false;
  return true;
}

function linesOf(text: string, from: number, last: LastHeads): ReadLines | undefined {
  headerLines.lastIndex = from;
  if (!headerLines.test(text)) return undefined;
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  const { names: known } = last;
  /** Where this is another head than the last one. */
  let anew: KnownName[] | undefined;
  let bodyBytes = 0;
  for (let at = from, count = 0; at < text.length; count += 1) {
    let one = anew === undefined ? known[count] : undefined;
    if (one === undefined || !text.startsWith(one.sent, at)) {
      anew ??= known.slice(0, count);
      // Names of the last head came once each.
      one = nameOf(text.slice(at, text.indexOf(":", at)));
      if (one === undefined || headers[one.lower] !== undefined) return undefined;
      anew.push(one);
    }
    const { name, lower } = one;
    const end = text.indexOf("\r\n", at + one.sent.length);
    const value = trimmed(text, at + one.sent.length, end);
    if (lower === "connection" && value.toLowerCase() !== "keep-alive") return undefined;
    if (lower === "content-length") {
      if (!bodyLength.test(value)) return undefined;
      bodyBytes = Number(value);
    }
    headers[lower] = value;
    rawHeaders.push(name, value);
    at = end + 2;
  }
  if (headers["host"] === undefined || rawHeaders.length > 2 * linesMax) return undefined;
  if (anew?.every(isKept) === true) last.names = anew;
  return { headers, rawHeaders, bodyBytes };
}

/** A value without the blanks around it. */
function trimmed(text: string, from: number, end: number): string {
  let first = from;
  let behind = end;
  while (first < behind && text.charCodeAt(first) === blank) first += 1;
  while (behind > first && text.charCodeAt(behind - 1) === blank) behind -= 1;
  return text.slice(first, behind);
}

const blank = 0x20;

/** Names as they came: clients send the same few. */
const names = new Map<string, KnownName>();
const namesMax = 512;
const nameLengthMax = 64;

/** Undefined for those that are another reader's. */
function nameOf(sent: string): KnownName | undefined {
  const known = names.get(sent);
  if (known !== undefined) return known;
  const lower = sent.toLowerCase();
  if (others.has(lower)) return undefined;
  if (names.size >= namesMax || sent.length > nameLengthMax) {
    return { sent: `${sent}:`, name: sent, lower };
  }
  // A slice would keep the whole head that it was cut from, with the credential in it.
  const kept = { sent: copied(`${sent}:`), name: copied(sent), lower: copied(lower) };
  names.set(kept.name, kept);
  return kept;
}

function isKept(one: KnownName): boolean {
  return names.get(one.name) === one;
}

function copied(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
