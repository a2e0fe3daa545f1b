/**
 * Heads of HTTP/1.1 requests that can be read in one way only, which is how nearly every client writes them: a method with a
 * path, names that come once, text of printable ASCII, a body by its length or none. Whatever else a request may say is not
 * read here (RFC 9112 has a lot of it), and nothing is refused: another reader gets those bytes as they came.
 */

import { copied, knownHeadOf, type KnownHead, type KnownName } from "./knownHead.ts";

export interface PlainHead {
  readonly method: string;
  /** The path as it was sent, with its question. */
  readonly url: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turns, as sent. */
  readonly rawHeaders: readonly string[];
  /** Bytes of the body. */
  readonly bodyBytes: number;
}

/** A head, and where its body begins. `more`: no whole head yet · `other`: not of this kind. */
export type PlainRead = { readonly head: PlainHead; readonly bodyAt: number } | "more" | "other";

type Lines = Omit<PlainHead, "method" | "url">;

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

/** The names of a connection's last head, in their order: clients send the same ones with every request. */
export class HeadNames {
  known: readonly KnownName[] = [];
  /** A head that came before. */
  head: KnownHead | undefined;
  /** How many more may be kept in its place: some clients send another one each time. */
  headsLeft = 8;
}

/** How most requests of some clients begin. */
const usualStart = Buffer.from("POST / HTTP/1.1\r\n", "latin1");
const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/** `bytes` begin with a request. */
export function readPlainHead(bytes: Buffer, last: HeadNames): PlainRead {
  const again = last.head === undefined ? undefined : readAgain(bytes, last.head);
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
  if (last.headsLeft > 0) {
    last.headsLeft -= 1;
    last.head = knownHeadOf(text, startEnd + 2, last.known) ?? last.head;
  }
  return { head: { method, url, headers, rawHeaders, bodyBytes }, bodyAt: end + ending.length };
}

/** A head with the lines of one that came before; undefined for any other, which may be of this kind as well. */
function readAgain(bytes: Buffer, known: KnownHead): PlainRead | undefined {
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
  const lines = known.read(bytes, from);
  if (lines === undefined || lines.end - ending.length > headBytesMax) return undefined;
  const { headers, rawHeaders, bodyBytes, end } = lines;
  return { head: { method, url, headers, rawHeaders, bodyBytes }, bodyAt: end };
}

function isUsual(bytes: Uint8Array): boolean {
  for (let at = 0; at < usualStart.length; at += 1) if (bytes[at] !== usualStart[at]) return false;
  return true;
}

function linesOf(text: string, from: number, last: HeadNames): Lines | undefined {
  headerLines.lastIndex = from;
  if (!headerLines.test(text)) return undefined;
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  const { known } = last;
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
  if (anew?.every(isKept) === true) last.known = anew;
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
  const kept = { sent: copied(`${sent}:`), name: copied(sent), lower: copied(lower) };
  names.set(kept.name, kept);
  return kept;
}

function isKept(one: KnownName): boolean {
  return names.get(one.name) === one;
}
