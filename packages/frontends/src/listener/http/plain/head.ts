/**
 * Heads of HTTP/1.1 requests that can be read in one way only, which is how nearly every client writes them: a method with a
 * path, names that come once, text of printable ASCII, a body by its length or none. Whatever else a request may say is not
 * read here (RFC 9112 has a lot of it), and nothing is refused: another reader gets those bytes as they came.
 */

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
/** All lines of headers, each with its end. */
const headerLines = /^(?:[\w!#$%&'*+.^`|~-]+:[ -~]*\r\n)+$/;
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

/** `bytes` begin with a request. */
export function readPlainHead(bytes: Buffer): PlainRead {
  const end = bytes.indexOf(ending);
  if (end < 0) return "more";
  if (end > headBytesMax) return "other";
  const text = bytes.toString("latin1", 0, end + 2);
  const startEnd = text.indexOf("\r\n");
  const [, method, url] = startLine.exec(text.slice(0, startEnd)) ?? [];
  if (method === undefined || url === undefined) return "other";
  const lines = linesOf(text.slice(startEnd + 2));
  if (lines === undefined) return "other";
  const { headers, rawHeaders, bodyBytes } = lines;
  return { head: { method, url, headers, rawHeaders, bodyBytes }, bodyAt: end + ending.length };
}

function linesOf(text: string): Lines | undefined {
  if (!headerLines.test(text)) return undefined;
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  let bodyBytes = 0;
  for (let at = 0; at < text.length;) {
    const colon = text.indexOf(":", at);
    const end = text.indexOf("\r\n", colon);
    const name = text.slice(at, colon);
    const value = text.slice(colon + 1, end).trim();
    const lower = lowerOf(name);
    if (lower === undefined || headers[lower] !== undefined) return undefined;
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
  return { headers, rawHeaders, bodyBytes };
}

/** Names as they came, in lower case: clients send the same few. */
const names = new Map<string, string>();
const namesMax = 512;
const nameLengthMax = 64;

/** Undefined for those that are another reader's. */
function lowerOf(sent: string): string | undefined {
  const known = names.get(sent);
  if (known !== undefined) return known;
  const name = sent.toLowerCase();
  if (others.has(name)) return undefined;
  // A slice would keep the whole head that it was cut from.
  if (names.size < namesMax && sent.length <= nameLengthMax) names.set(copied(sent), copied(name));
  return name;
}

function copied(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
