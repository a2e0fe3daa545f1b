/**
 * The last head of a connection's responses, kept to read the next one by: a server's heads differ in a date, an id or a
 * count. Bytes that came before are compared, and only values that changed are read. What a head may be is judged in
 * responseHead.ts alone: whatever is not plainly a head that was judged there is left to it.
 */
import { plainLength, trimmed, type BodyLength, type ResponseHead } from "./responseHead.ts";

/** Longer heads are not kept: every connection holds one. */
export const keptBytesMax = 4_096;

const cr = 0x0d;
const lf = 0x0a;
const colon = 0x3a;
const none = new Uint8Array(0);
const decoder = new TextDecoder();
const noContent = 204;
const notModified = 304;

/** Owned by one connection. */
export class RememberedHead {
  #head: ResponseHead | undefined;
  /** All of it, with its empty line, in memory that is written again. */
  #bytes: Uint8Array = none;
  #length = 0;
  /** Names in lower case, and values, of its lines; the first is the status line and has none. */
  #names: readonly string[] = [];
  #values: string[] = [];
  /** Where each of the lines begins, and where the empty one does. */
  #starts: readonly number[] = [];
  /** Heads in a row that were not like the one before. */
  #missed = 0;

  /** How long the head is that was read last. */
  get length(): number {
    return this.#length;
  }

  /** The head that begins at `start`, of `bytesMax` at most. Undefined where it has to be read as any other. */
  read(bytes: Uint8Array, start: number, bytesMax: number): ResponseHead | undefined {
    const head = this.#head;
    if (head === undefined || bytesMax === 0) return undefined;
    const isSame = this.#standsAt(0, this.#length, bytes, start);
    const found = isSame ? head : this.#readChanged(head, bytes, start);
    if (found === undefined || this.#length > bytesMax) return undefined;
    this.#missed = 0;
    return found;
  }

  /** Keeps what was read of the bytes from `start` to `end`, which is behind its empty line. */
  keep(head: ResponseHead, bytes: Uint8Array, start: number, end: number): void {
    this.#missed += 1;
    // Heads that have nothing in common are kept ever more seldom.
    const isDue = (this.#missed & (this.#missed - 1)) === 0;
    if (!isDue || end - start > keptBytesMax) return;
    const kept = new Uint8Array(bytes.subarray(start, end));
    const names: string[] = [""];
    const values: string[] = [""];
    const starts: number[] = [0];
    for (let at = kept.indexOf(lf) + 1; at < kept.length - 2; at = kept.indexOf(lf, at) + 1) {
      const name = nameAt(kept, at);
      const value = head.headers[name];
      // One that stands twice is a list.
      if (typeof value !== "string" || name === "__proto__") return;
      names.push(name);
      values.push(value);
      starts.push(at);
    }
    starts.push(kept.length - 2);
    if (kept.some((byte) => byte >= 0x80)) return;
    this.#head = head;
    this.#put(kept);
    this.#names = names;
    this.#values = values;
    this.#starts = starts;
  }

  /** The same lines with other values, none of which say how the message goes on but for its length. */
  #readChanged(head: ResponseHead, bytes: Uint8Array, start: number): ResponseHead | undefined {
    const starts: number[] = [0];
    const changed: number[] = [];
    let at = start;
    for (let line = 0; line < this.#names.length; line += 1) {
      const from = this.#starts[line] ?? 0;
      const to = this.#starts[line + 1] ?? 0;
      if (this.#standsAt(from, to, bytes, at)) {
        at += to - from;
      } else {
        const behindName = from + (this.#names[line] ?? "").length + 1;
        if (!this.#mayChange(line) || !this.#standsAt(from, behindName, bytes, at))
          return undefined;
        at = endOfPlain(bytes, at + behindName - from);
        if (bytes[at] !== cr || bytes[at + 1] !== lf) return undefined;
        at += 2;
        changed.push(line);
      }
      starts.push(at - start);
    }
    if (bytes[at] !== cr || bytes[at + 1] !== lf || at + 2 - start > keptBytesMax) return undefined;
    return this.#changeTo(head, bytes.subarray(start, at + 2), { starts, changed });
  }

  #put(bytes: Uint8Array): void {
    const { length } = bytes;
    if (length > this.#bytes.length) this.#bytes = new Uint8Array(length * 2);
    this.#bytes.set(bytes);
    this.#length = length;
  }

  /** Whether the remembered bytes in between stand in others at a place. */
  #standsAt(from: number, to: number, bytes: Uint8Array, at: number): boolean {
    const known = this.#bytes;
    const shift = at - from;
    if (to + shift > bytes.length) return false;
    for (let each = from; each < to; each += 1) {
      if (known[each] !== bytes[each + shift]) return false;
    }
    return true;
  }

  #mayChange(line: number): boolean {
    const name = this.#names[line];
    return line > 0 && name !== "transfer-encoding" && name !== "connection";
  }

  #changeTo(
    head: ResponseHead,
    bytes: Uint8Array,
    {
      starts,
      changed,
    }: { readonly starts: readonly number[]; readonly changed: readonly number[] },
  ): ResponseHead | undefined {
    const text = decoder.decode(bytes);
    const values = this.#values.slice();
    let body: BodyLength | undefined = head.body;
    for (const line of changed) {
      const name = this.#names[line] ?? "";
      const from = (starts[line] ?? 0) + name.length + 1;
      const to = (starts[line + 1] ?? 0) - 2;
      const value = trimmed(text, from, to);
      if (name === "content-length") body = changedLength(head, value);
      values[line] = value;
    }
    if (body === undefined) return undefined;
    const headers: Record<string, string> = {};
    for (let line = 1; line < values.length; line += 1) {
      headers[this.#names[line] ?? ""] = values[line] ?? "";
    }
    const found = { status: head.status, headers, body, reusable: head.reusable };
    this.#head = found;
    this.#put(bytes);
    this.#values = values;
    this.#starts = starts;
    return found;
  }
}

/** Undefined where this status has no body, or the text is no length. */
function changedLength({ status }: ResponseHead, text: string): number | undefined {
  if (status === noContent || status === notModified) return undefined;
  return plainLength.test(text) ? Number(text) : undefined;
}

/** Behind the visible ASCII and the spaces at a place. */
function endOfPlain(bytes: Uint8Array, start: number): number {
  for (let at = start; ; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return at;
  }
}

/** Of a line that was judged. */
function nameAt(bytes: Uint8Array, start: number): string {
  return decoder.decode(bytes.subarray(start, bytes.indexOf(colon, start))).toLowerCase();
}
