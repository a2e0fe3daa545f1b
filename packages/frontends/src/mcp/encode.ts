/**
 * Rows of an answer: read cell by cell until rows or bytes are enough, and shown as a compact table.
 *
 * The table is for the model's eye. Whatever a cell holds, it stays within its cell: line breaks, separators and
 * invisible characters are written as escapes, so that no value can look like a line of ours.
 */
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { typeName } from "@gateway/core/type/name.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { cellReader, type Cell, type CellReader } from "./value/cells.ts";

/** What one answer may hold. */
export interface AnswerLimits {
  readonly rows: number;
  readonly bytes: number;
}

/** Why an answer does not hold everything. */
export type Cut = "rows" | "bytes" | "values" | "time";

/** A batch that is being read, and the row to go on with. */
export class OpenBatch {
  readonly #readers: readonly CellReader[];
  readonly #rows: number;
  #row = 0;

  constructor(batch: Batch) {
    const { columns, rows } = columnarOf(batch);
    this.#readers = columns.map(cellReader);
    this.#rows = rows;
  }

  get hasMore(): boolean {
    return this.#row < this.#rows;
  }

  /** Moves rows into the page until it is full or the batch has no more. */
  moveTo(page: RowsPage): void {
    while (this.#row < this.#rows && !page.isFull) {
      page.put(this.#readers, this.#row);
      this.#row += 1;
    }
  }
}

/** What a row costs beside its cells: brackets and commas, in both forms of the answer. */
const rowOverhead = 8;
const cellOverhead = 4;

/** The rows of one answer. A row that is begun is put in whole, its values cut where they are too long. */
export class RowsPage {
  readonly rows: (readonly Cell[])[] = [];
  readonly #limits: AnswerLimits;
  #bytes = 0;
  #hasCutValues = false;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.fullBy !== undefined;
  }

  get fullBy(): "rows" | "bytes" | undefined {
    if (this.rows.length >= this.#limits.rows) return "rows";
    return this.#bytes >= this.#limits.bytes ? "bytes" : undefined;
  }

  /** About how many the rows take in an answer. */
  get bytes(): number {
    return this.#bytes;
  }

  get hasCutValues(): boolean {
    return this.#hasCutValues;
  }

  put(readers: readonly CellReader[], row: number): void {
    // A wide row of long values may not take more than the answer: each gets its share.
    const share = Math.floor(this.#limits.bytes / Math.max(readers.length, 4));
    this.#bytes += rowOverhead;
    const cells = readers.map((read) => {
      const { value, bytes, cut } = read(row, Math.max(share, shareMin));
      this.#bytes += bytes + cellOverhead;
      this.#hasCutValues ||= cut;
      return value;
    });
    this.rows.push(cells);
  }
}

/** Every value shows at least so many bytes, however many columns there are. */
const shareMin = 64;

/** A column as an answer names it. */
export interface ToldColumn {
  readonly name: string;
  /** The neutral name of the type: `decimal(12,2)`, `list(text)`. */
  readonly type: string;
  readonly nullable: boolean;
}

export function toldColumns(columns: readonly Column[]): readonly ToldColumn[] {
  return columns.map(({ name, type, nullable }) => ({ name, type: typeName(type), nullable }));
}

/** Names in a line, then each row in one of its own, cells between bars. */
export function tableText(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [names, ...rows].map((cells) => cells.map(cellText).join(" | "));
  return lines.join("\n");
}

function cellText(cell: Cell): string {
  if (cell === null) return "NULL";
  if (typeof cell !== "string") return String(cell);
  return cell === "NULL" ? "\\NULL" : visible(cell);
}

/**
 * Backslashes and bars, controls, line breaks of every kind, and what is drawn nowhere: marks of direction, joiners,
 * variation selectors and the tag characters in which a text can hide from a person but not from a model.
 */
const escaped = /[\\|\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** The text with nothing in it that is not seen. */
export function visible(text: string): string {
  return text.replaceAll(escaped, (character) => {
    switch (character) {
      case "\\":
        return "\\\\";
      case "|":
        return "\\|";
      case "\n":
        return "\\n";
      case "\t":
        return "\\t";
      case "\r":
        return "\\r";
      default:
        return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
    }
  });
}
