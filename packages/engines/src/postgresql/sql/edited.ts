/** A text with some places written anew, which knows where each of its characters stood before. */

/** In UTF-16 units of the text before. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export class Edited {
  readonly text: string;
  readonly #edits: readonly Edit[];

  /** Edits do not meet. */
  constructor(text: string, edits: readonly Edit[]) {
    this.#edits = edits.toSorted((one, other) => one.start - other.start);
    let edited = "";
    let at = 0;
    for (const { start, end, text: put } of this.#edits) {
      edited += text.slice(at, start) + put;
      at = end;
    }
    this.text = edited + text.slice(at);
  }

  /** Where that unit stood; what was put there stands where it was put. */
  before(unit: number): number {
    let moved = 0;
    for (const { start, end, text } of this.#edits) {
      const put = start + moved;
      if (unit < put) break;
      if (unit < put + text.length) return start;
      moved += text.length - (end - start);
    }
    return unit - moved;
  }
}
