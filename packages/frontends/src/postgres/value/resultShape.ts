/** What a result of these columns looks like in the formats that were asked for, and how it is told. */
import type { Column } from "@gateway/core/type/type.ts";
import { writeBackend } from "@gateway/wire/postgres/backend.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import { binaryForms, ownColumns } from "./ownTypes.ts";
import { formatsFor, rowFields } from "./rows.ts";

/** By the columns and the formats. An engine that speaks PostgreSQL gives columns that come again as the same object. */
const known = new WeakMap<readonly Column[], Map<string, ResultShape>>();
/** Of one list of columns: clients ask for all in text or for all in binary. */
const shapesMax = 8;

export class ResultShape {
  /** With PostgreSQL's own types where other engines have none. */
  readonly columns: readonly Column[];
  /** Undefined where another number of them was asked for than there are columns. */
  readonly formats: readonly Format[] | undefined;
  readonly binaryForms: ReturnType<typeof binaryForms>;
  readonly #comesAgain: boolean;
  #told: Uint8Array | undefined;

  private constructor(found: readonly Column[], asked: readonly Format[], comesAgain: boolean) {
    this.columns = ownColumns(found);
    this.formats = formatsFor(asked, this.columns);
    this.binaryForms = this.formats && binaryForms(this.columns, this.formats);
    this.#comesAgain = comesAgain;
  }

  static of(found: readonly Column[], asked: readonly Format[]): ResultShape {
    // Of any other engine the columns are new ones for each result.
    if (found[0]?.announced === undefined) return new ResultShape(found, asked, false);
    const shapes = known.get(found) ?? new Map<string, ResultShape>();
    const key = asked.length === 0 ? "" : asked.join("");
    const before = shapes.get(key);
    if (before !== undefined) return before;
    const shape = new ResultShape(found, asked, true);
    if (shapes.size < shapesMax) shapes.set(key, shape);
    known.set(found, shapes);
    return shape;
  }

  /** Writes the RowDescription. */
  tell(out: ByteWriter): void {
    // What is kept is in UTF-8.
    if (!this.#comesAgain || out.charset !== undefined) return this.#write(out);
    if (this.#told === undefined) {
      const apart = new ByteWriter();
      this.#write(apart);
      this.#told = apart.take();
    }
    out.bytes(this.#told);
  }

  #write(out: ByteWriter): void {
    writeBackend(out, {
      kind: "rowDescription",
      fields: rowFields(this.columns, this.formats ?? []),
    });
  }
}
