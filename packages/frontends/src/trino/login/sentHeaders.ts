/**
 * The headers of a request as they were sent, to know the next one that brings the same.
 *
 * A client sends the same dozen with every statement, and comparing them costs less than judging and
 * reading them again. Secrets are neither kept nor compared, so nothing that is remembered depends on one.
 */
import { requestHeader } from "@gateway/wire/trino/headers.ts";

/** Values of these are not compared: secrets, and the one that differs with each statement. */
const passedOver: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  requestHeader.extraCredential,
  "content-length",
]);

/** Longer ones are not remembered: every connection would hold tens of kilobytes of session properties. */
const lengthMax = 4 * 1024;

/** To be remembered; undefined for headers that are too long for it. */
export function sentHeaders(rawHeaders: readonly string[]): SentHeaders | undefined {
  const length = rawHeaders.reduce((sum, text) => sum + text.length, 0);
  return length > lengthMax ? undefined : new SentHeaders(rawHeaders);
}

export class SentHeaders {
  /** Names and values in turn; undefined for a value that is not compared. */
  readonly #texts: readonly (string | undefined)[];

  constructor(rawHeaders: readonly string[]) {
    this.#texts = rawHeaders.map((text, index) => {
      const name = index % 2 === 0 ? undefined : rawHeaders[index - 1];
      return name !== undefined && passedOver.has(name.toLowerCase()) ? undefined : text;
    });
  }

  /** True when these are the same, in the same order and letters. */
  areSame(rawHeaders: readonly string[]): boolean {
    const texts = this.#texts;
    if (texts.length !== rawHeaders.length) return false;
    for (let index = 0; index < texts.length; index += 1) {
      const text = texts[index];
      if (text !== undefined && text !== rawHeaders[index]) return false;
    }
    return true;
  }
}
