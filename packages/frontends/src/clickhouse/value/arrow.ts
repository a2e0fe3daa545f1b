/**
 * Rows as Arrow, as a stream of messages or as a file of them: the engine's own buffers one behind the other, in record
 * batches of about 256 KB to 1 MB. Nothing here looks at a cell.
 */
import type { Column } from "@gateway/core/type/type.ts";
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import {
  aligned,
  batchMetadata,
  encapsulated,
  encapsulatedSchema,
  fileFooter,
  streamEnd,
  type FileBlock,
} from "@gateway/wire/flight/arrowWrite.ts";
import type { Body } from "../../arrow/body.ts";
import { Packer } from "../../arrow/packer.ts";
import { fieldOf } from "../../arrow/types.ts";
import type { Output } from "./output.ts";

/** `ArrowStream`, or the file that `Arrow` is: the same between a magic word and a footer that says where each batch lies. */
export type ArrowForm = "stream" | "file";

const magic = Uint8Array.from("ARROW1", (letter) => letter.charCodeAt(0));

export class ArrowWriter {
  readonly #columns: readonly Column[];
  readonly #form: ArrowForm;
  readonly #packer = new Packer();
  readonly #blocks: FileBlock[] = [];
  /** Bytes before the next message. */
  #at = 0;
  #bodies: Generator<Body, void, void> | undefined;

  constructor(columns: readonly Column[], form: ArrowForm) {
    this.#columns = columns;
    this.#form = form;
  }

  head(out: Output): void {
    if (this.#form === "file") {
      this.#put(out, magic);
      this.#put(out, new Uint8Array(2));
    }
    this.#put(out, encapsulatedSchema(this.#columns.map(fieldOf)));
  }

  /** Writes one message of the batch at most. False once all of it is written, or waits for more rows. */
  more(batch: ColumnarBatch, out: Output): boolean {
    this.#bodies ??= this.#packer.add(batch);
    const step = this.#bodies.next();
    if (step.done !== true) {
      this.#message(out, step.value);
      return true;
    }
    this.#bodies = undefined;
    return false;
  }

  tail(out: Output): void {
    if (this.#packer.waits) this.#message(out, this.#packer.take());
    this.#put(out, streamEnd);
    if (this.#form === "stream") return;
    const footer = fileFooter(this.#columns.map(fieldOf), this.#blocks);
    this.#put(out, footer);
    const length = new Uint8Array(4);
    new DataView(length.buffer).setInt32(0, footer.length, true);
    this.#put(out, length);
    this.#put(out, magic);
  }

  #message(out: Output, { rows, nodes, buffers }: Body): void {
    const bufferLengths = buffers.map(({ length }) => length);
    const { metadata, bodyBytes } = batchMetadata({ rows, nodes, bufferLengths });
    const head = encapsulated(metadata);
    if (this.#form === "file") {
      this.#blocks.push({ offset: this.#at, metadataBytes: head.length, bodyBytes });
    }
    out.reserve(head.length + bodyBytes);
    this.#put(out, head);
    for (const { length, chunks } of buffers) {
      for (const chunk of chunks) this.#put(out, chunk);
      this.#put(out, padding.subarray(0, aligned(length) - length));
    }
  }

  #put(out: Output, bytes: Uint8Array): void {
    out.put(bytes);
    this.#at += bytes.length;
  }
}

const padding = new Uint8Array(8);
