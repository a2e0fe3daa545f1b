/**
 * The head of an HTTP/1.1 response: its status, its headers, and how its body is delimited (RFC 9112 §6). What
 * could be read in two ways is refused.
 */

/** By name in lower case; an array where one name came several times. Values are latin-1, without space around. A connection's responses share them where they are the same. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

/** Bytes of the body, or how its end is known. */
export type BodyLength = number | "chunked" | "untilClose";

export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: BodyLength;
  /** The connection may carry another request behind the body. */
  readonly reusable: boolean;
}

/** `status`: no status line of HTTP/1 · `header`: a line that is no field · `framing`: no one length of the body. */
export type HeadFault = "status" | "header" | "framing";

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |\r)/;
const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
/** As many digits as a number holds exactly. */
export const plainLength: RegExp = /^\d{1,15}$/;
const tabBehind = /[^\t ] *\t/;
/** Names as they came, with their lower case: servers send the same few in each answer. */
const readNames = new Map<string, string>();
const readNamesMax = 256;
/** A name keeps the text that it was cut from. */
const keptTextMax = 4_096;

const noContent = 204;
const notModified = 304;

/** Reads the lines of a head, each with its CR LF, of bytes that a line may have. */
export function readHead(text: string): ResponseHead | HeadFault {
  const matched = statusLine.exec(text);
  if (matched === null) return "status";
  const status = Number(matched[2]);
  const fields = new Fields();
  if (!fields.read(text, text.indexOf("\r\n") + 2)) return fields.fault;
  // HTTP/1.0 knows no chunks, and keeps a connection only by an agreement that is not made here.
  const isOld = matched[1] === "0";
  if (isOld && fields.chunked) return "framing";
  const body = bodyOf(status, fields);
  if (body === undefined) return "framing";
  const reusable = !isOld && !fields.close && body !== "untilClose";
  return { status, headers: fields.headers, body, reusable };
}

/** Reads the lines behind the last chunk. A field that would change how the body was read is refused (RFC 9110 §6.5.1). */
export function readTrailers(text: string): HeadFault | undefined {
  const fields = new Fields();
  if (!fields.read(text, 0)) return fields.fault;
  return fields.chunked || fields.length !== undefined ? "framing" : undefined;
}

/** Undefined where the headers say something that this status may not have. */
function bodyOf(status: number, { length: bytes, chunked }: Fields): BodyLength | undefined {
  if (status === notModified) return 0;
  if (status < 200 || status === noContent) {
    // Some readers look for a body here and some do not (RFC 9110 §8.6).
    const isBare = !chunked && (bytes === undefined || (bytes === 0 && status === noContent));
    return isBare ? 0 : undefined;
  }
  return chunked ? "chunked" : (bytes ?? "untilClose");
}

/** Fields as they are read, with those that say how the message goes on. */
class Fields {
  readonly headers: Record<string, string | string[]> = {};
  fault: HeadFault = "header";
  length: number | undefined;
  chunked = false;
  close = false;

  /** False behind a fault. */
  read(text: string, from: number): boolean {
    let at = from;
    while (at < text.length) {
      const end = text.indexOf("\r\n", at);
      const colon = text.indexOf(":", at);
      if (end < 0 || colon <= at || colon > end) return false;
      const name = nameIn(text, at, colon);
      if (name === undefined) return false;
      const value = trimmed(text, colon + 1, end);
      // node:http takes spaces behind these two, and reads something else into a tab.
      const isFraming = name === "content-length" || name === "transfer-encoding";
      const isOdd = isFraming && tabBehind.test(text.slice(colon + 1, end));
      if (isOdd || !this.#notice(name, value)) {
        this.fault = "framing";
        return false;
      }
      add(this.headers, name, value);
      at = end + 2;
    }
    return true;
  }

  #notice(name: string, value: string): boolean {
    switch (name) {
      case "content-length":
        // A second one is refused even if it says the same: node:http does so.
        if (this.length !== undefined || this.chunked || !plainLength.test(value)) return false;
        this.length = Number(value);
        return true;
      case "transfer-encoding":
        if (this.length !== undefined || this.chunked) return false;
        this.chunked = value.toLowerCase() === "chunked";
        return this.chunked;
      case "connection":
        if (value !== "keep-alive" && value.toLowerCase().split(",").some(isClose))
          this.close = true;
        return true;
      default:
        return true;
    }
  }
}

/** Lower case. Undefined also where space stands before the colon, or the line goes on with the one before. */
function nameIn(text: string, start: number, colon: number): string | undefined {
  const sent = text.slice(start, colon);
  const known = readNames.get(sent);
  if (known !== undefined) return known;
  if (!token.test(sent)) return undefined;
  const name = sent.toLowerCase();
  if (readNames.size < readNamesMax && text.length <= keptTextMax) readNames.set(sent, name);
  return name;
}

function isClose(option: string): boolean {
  return option.trim() === "close";
}

/** The text from `start` to `end` without spaces and tabs at its ends. */
export function trimmed(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isSpace(text.charCodeAt(from))) from += 1;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** What an object inherits is neither text nor a list, so that no name meets it; `__proto__` is only a name here. */
function add(headers: Record<string, string | string[]>, name: string, value: string): void {
  const known: unknown = headers[name];
  if (typeof known === "string") headers[name] = [known, value];
  else if (Array.isArray(known)) known.push(value);
  else if (name !== "__proto__") headers[name] = value;
  else
    Object.defineProperty(headers, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}
