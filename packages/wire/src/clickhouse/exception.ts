/**
 * The text of a ClickHouse exception, and the block that stands for one behind rows that were sent already
 * (ClickHouse 25.11 and newer; the head of such an answer names its tag).
 */

/** An exception as a client reads it. */
export interface ClickHouseException {
  readonly code: number;
  /** `UNKNOWN_TABLE`. */
  readonly name: string;
  readonly message: string;
}

/** The version that clients are told; they read features out of it. */
export const shownVersion = "25.8.1.1";

/** One line, as a server writes it in the body of an answer that failed. */
export function exceptionText({ code, name, message }: ClickHouseException): string {
  const ended = /[.!?]$/.test(message) ? message : `${message}.`;
  return `Code: ${code}. DB::Exception: ${ended} (${name}) (version ${shownVersion})\n`;
}

/** What ends a body whose rows broke off. `tag` is 16 letters that the head named. */
export function exceptionBlock(tag: string, exception: ClickHouseException): string {
  const text = exceptionText(exception);
  const length = new TextEncoder().encode(text).length;
  return `\r\n__exception__\r\n${tag}\r\n${text}${length} ${tag}\r\n__exception__\r\n`;
}
