/**
 * Writes one statement's result: its columns, and its rows as DataRow or as the lines of a COPY.
 *
 * It holds the batch that is being written and the next row of it. How many rows go out, and when, is the
 * execution's to say.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { giveBack } from "@gateway/core/tool/socket/lent.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import { flushBytes, type Outbox } from "../../outbox.ts";
import type { CopyForm } from "../../read/copyForm.ts";
import type { ClientSession } from "../../session/clientSession.ts";
import { formatsFor, rowWriter, type RowShape, type RowWriter } from "../../value/rows.ts";
import { kernelRowWriter } from "../../value/kernel/kernelRows.ts";
import { nativeRowWriter } from "../../value/nativeRows.ts";
import { binaryForms, withBinary } from "../../value/ownTypes.ts";
import { recodedWriter } from "../../value/recoded.ts";
import { ResultShape } from "../../value/resultShape.ts";
import { textRowWriter } from "../../value/textRows.ts";
import { copyProblem, copyWriter, writeCopyHead, writeCopyTail } from "../copyRows.ts";
import { changedResult, formatCountError, sameShape, widthError } from "../described.ts";

/** How the client wants a result. */
export interface ResultForm {
  readonly formats: readonly Format[];
  /** What the client was told the result will be; undefined when it was not told. */
  readonly promised: readonly Column[] | undefined;
  /** Rows go out as those of a COPY; undefined for an ordinary result. */
  readonly copy: CopyForm | undefined;
}

/** Whether the result is described before its first row, and whether its absence is told too. */
export type Announce = "no" | "rows" | "rowsOrNone";

/** A batch of fewer rows fits the buffer as it is. */
const manyRows = 256;

/** Rows of the batch from number `first` up to that before `end`. */
interface Span {
  readonly rows: RowWriter;
  readonly first: number;
  readonly end: number;
}

export class ResultWriter {
  readonly #form: ResultForm;
  readonly #session: ClientSession;
  readonly #out: Outbox;
  #columns: readonly Column[] | undefined;
  #formats: readonly Format[] = [];
  #binaryForms: ReturnType<typeof binaryForms>;
  /** The batch that is being written, with its writer and the next row. */
  #batch: Batch | undefined;
  #rows: RowWriter | undefined;
  #row = 0;
  /** A batch with rows came. */
  #begun = false;

  constructor(form: ResultForm, to: { readonly session: ClientSession; readonly out: Outbox }) {
    this.#form = form;
    this.#session = to.session;
    this.#out = to.out;
  }

  /** Columns of the result, once they are known. */
  get columns(): readonly Column[] | undefined {
    return this.#columns;
  }

  /** True while a batch is not written to its end. */
  get waits(): boolean {
    return this.#rows !== undefined;
  }

  /** Takes the columns, and tells them where the client wants that. Answers why it can not have them. */
  describe(found: readonly Column[], announce: Announce): GatewayError | undefined {
    const { promised, copy, formats: asked } = this.#form;
    const shape = ResultShape.of(found, asked);
    const { columns, formats } = shape;
    if (promised !== undefined && !sameShape(promised, columns)) return changedResult();
    const wide = widthError(columns);
    if (wide !== undefined) return wide;
    this.#columns = columns;
    if (copy !== undefined) return this.#startCopy(copy, columns);
    if (formats === undefined) return formatCountError(asked.length, columns.length);
    this.#formats = formats;
    this.#binaryForms = shape.binaryForms;
    if (announce !== "no") shape.tell(this.#out.writer);
    return undefined;
  }

  /** The next batch. The one before has to be written to its end. */
  take(batch: Batch): void {
    this.#batch = batch;
    this.#row = 0;
    this.#chooseWriter();
  }

  /**
   * Writes at most `most` rows of the batch, as fast as the client takes them; a promise only where it waits for that.
   * Undefined when `signal` cut it short.
   */
  write(most: number, signal: AbortSignal): number | undefined | Promise<number | undefined> {
    const rows = this.#rows;
    if (rows === undefined) return 0;
    const first = this.#row;
    const end = Math.min(rows.rows, first + most);
    const asWritten = first === 0 && end === rows.rows ? rows.asWritten : undefined;
    if (asWritten === undefined) return this.#writeTo({ rows, first, end }, signal);
    if (signal.aborted) return undefined;
    this.#forget();
    return this.#out.passOn(asWritten, signal).then(() => end);
  }

  #writeTo(span: Span, signal: AbortSignal): number | undefined | Promise<number | undefined> {
    const { rows, first, end } = span;
    const out = this.#out;
    while (this.#row < end) {
      if (signal.aborted) return undefined;
      if (end - this.#row > manyRows) out.expectMuch();
      this.#row = rows.write(out.writer, this.#row, { end, bytesMax: flushBytes });
      if (out.full) return out.pass(signal).then(() => this.#writeTo(span, signal));
    }
    if (this.#row >= rows.rows) this.drop();
    return end - first;
  }

  /** Leaves out at most `most` rows of the batch; answers how many. */
  passOver(most: number): number {
    const rows = this.#rows;
    if (rows === undefined) return 0;
    const first = this.#row;
    this.#row = Math.min(rows.rows, first + most);
    if (this.#row >= rows.rows) this.drop();
    return this.#row - first;
  }

  /** The next rows of the batch as whole messages, to be set aside. */
  piece(): Uint8Array {
    const piece = new ByteWriter();
    const rows = this.#rows;
    if (rows !== undefined) {
      this.#row = rows.write(piece, this.#row, { end: rows.rows, bytesMax: flushBytes });
      if (this.#row >= rows.rows) this.drop();
    }
    return piece.take();
  }

  /** A cursor may be fetched from in another format than before, until rows were set aside in the old one. */
  reshape(asked: readonly Format[] | undefined, setAside: boolean): GatewayError | undefined {
    if (asked === undefined || this.#columns === undefined) return undefined;
    const formats = formatsFor(asked, this.#columns);
    if (formats === undefined) return formatCountError(asked.length, this.#columns.length);
    if (formats.every((format, index) => format === this.#formats[index])) return undefined;
    if (setAside) {
      const message = "a cursor can not change its format once its rows were set aside";
      return gatewayError("query.unsupported", { message });
    }
    this.#formats = formats;
    this.#binaryForms = binaryForms(this.#columns, formats);
    this.#chooseWriter();
    return undefined;
  }

  /** What follows the last row of a COPY. */
  endCopy(form: CopyForm): void {
    writeCopyTail(this.#out.writer, form, this.#begun);
    this.#out.put({ kind: "copyDone" });
  }

  /** Lets go of the batch, of which nobody has a view. */
  drop(): void {
    if (this.#batch?.form === "native") giveBack(this.#batch.bytes);
    this.#forget();
  }

  #forget(): void {
    this.#batch = undefined;
    this.#rows = undefined;
  }

  #startCopy(form: CopyForm, columns: readonly Column[]): GatewayError | undefined {
    const wrong = copyProblem(form, columns);
    if (wrong !== undefined) return wrong;
    const { writer } = this.#out;
    const format = form.kind === "binary" ? 1 : 0;
    this.#binaryForms = binaryForms(
      columns,
      columns.map(() => format),
    );
    this.#out.put({ kind: "copyOut", format, columns: columns.length });
    writeCopyHead(writer, { form, columns, zone: this.#session.zone });
    return undefined;
  }

  #chooseWriter(): void {
    const { zone } = this.#session;
    const { copy: form } = this.#form;
    const taken = this.#batch;
    if (taken === undefined) return;
    // The server wrote those itself, in the formats that were asked for.
    const forms = taken.form === "native" ? undefined : this.#binaryForms;
    const batch = forms === undefined ? taken : withBinary(taken, forms);
    this.#rows =
      form === undefined
        ? plainWriter(batch, { formats: this.#formats, zone, columns: this.#columns })
        : copyWriter(columnarOf(batch), { form, columns: this.#columns ?? [], zone }, !this.#begun);
    const { charset } = this.#session;
    if (charset !== undefined && form === undefined && batch.form !== "native")
      this.#rows = recodedWriter(this.#rows, charset, this.#columns ?? []);
    this.#begun ||= batch.rows > 0;
  }
}

/** Text of the source passed on where it is PostgreSQL's own, else through columns. */
function plainWriter(batch: Batch, shape: RowShape): RowWriter {
  if (batch.form === "native") {
    if (batch.format !== "postgresRows" && batch.format !== "postgresCopy")
      throw new TypeError(`rows in the form ${batch.format}`);
    return nativeRowWriter(batch);
  }
  const asText = batch.form === "text" ? textRowWriter(batch, shape) : undefined;
  if (asText !== undefined) return asText;
  const columnar = columnarOf(batch);
  return kernelRowWriter(columnar, shape) ?? rowWriter(columnar, shape);
}
