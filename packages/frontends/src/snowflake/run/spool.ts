/**
 * The rows of one result: the first in memory, for the answer itself, the others in chunks that the driver downloads.
 *
 * Chunks lie compressed in a file that has no name any more and is encrypted under a key that nobody keeps, so a crash
 * leaves nothing behind that anybody could read. All of them are known before the answer, as the protocol wants.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import { open, unlink, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import type { Pot } from "./pot.ts";
import { jsonFormat, type Piece, type RowFormat } from "./rowFormat.ts";

const compress = promisify(gzip);
/** Level 1 keeps up with the encoder; higher ones do not. */
const compression = { level: 1 } as const;
/** Rows in the answer itself. */
export const inlineBytes = 256 * 1024;
/** Rows of a chunk, before compression. */
const chunkBytes = 4 * 1024 * 1024;
const keyBytes = 32;
const cipherName = "aes-256-ctr";

/** What a driver is told of a chunk. */
export interface Chunk {
  readonly rows: number;
  readonly uncompressed: number;
  readonly compressed: number;
}

interface StoredChunk extends Chunk {
  readonly at: number;
}

export interface SpoolParts {
  readonly host: Pick<Host, "randomBytes">;
  /** Most bytes of this result. */
  readonly bytesMax: number;
  /** Room for those of all, and whose these are. */
  readonly pot: Pot;
  readonly user: string;
}

export class RowSpool {
  readonly #parts: SpoolParts;
  /** The form of its rows; set before the first of them. */
  format: RowFormat = jsonFormat;
  /** Rows of the answer. */
  #inline: Piece[] = [];
  #inlineLength = 0;
  #inlineRows = 0;
  #pending: Piece[] = [];
  #pendingLength = 0;
  #pendingRows = 0;
  readonly #chunks: StoredChunk[] = [];
  #file: FileHandle | undefined;
  #key: Uint8Array | undefined;
  #end = 0;
  #rows = 0;
  #closed = false;
  #taken = 0;

  constructor(parts: SpoolParts) {
    this.#parts = parts;
  }

  /** Takes the rows of a batch. Answers why no more are taken. */
  async add(batch: Batch): Promise<GatewayError | undefined> {
    const { rows } = batch;
    if (rows === 0) return undefined;
    const piece = this.format.encode(batch);
    this.#rows += rows;
    const isFirst = this.#chunks.length === 0 && this.#pendingRows === 0;
    if (isFirst && this.#inlineLength + piece.length <= inlineBytes) {
      this.#inline.push(piece);
      this.#inlineLength += piece.length;
      this.#inlineRows += rows;
      return undefined;
    }
    this.#pending.push(piece);
    this.#pendingLength += piece.length;
    this.#pendingRows += rows;
    return this.#pendingLength < chunkBytes ? undefined : this.#flush();
  }

  /** No more rows come. */
  finish(): Promise<GatewayError | undefined> {
    return this.#flush();
  }

  get rows(): number {
    return this.#rows;
  }

  /** Rows of the answer itself: a JSON array, or a stream in base64. */
  get inline(): string {
    return this.format.inline(this.#inline);
  }

  get inlineRows(): number {
    return this.#inlineRows;
  }

  /** Characters or bytes of it. */
  get inlineLength(): number {
    return this.#inlineLength;
  }

  get chunks(): readonly Chunk[] {
    return this.#chunks;
  }

  /** A chunk's bytes, gzip; undefined for one that there is not. */
  async read(index: number): Promise<Buffer | undefined> {
    const chunk = this.#chunks[index];
    if (chunk === undefined || this.#file === undefined || this.#key === undefined)
      return undefined;
    const sealed = Buffer.allocUnsafe(chunk.compressed);
    await this.#file.read(sealed, 0, sealed.length, chunk.at);
    return createDecipheriv(cipherName, this.#key, nonceOf(index)).update(sealed);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#inline = [];
    this.#pending = [];
    const file = this.#file;
    this.#file = undefined;
    this.#parts.pot.give(this.#parts.user, this.#taken);
    this.#taken = 0;
    await file?.close();
  }

  async #flush(): Promise<GatewayError | undefined> {
    if (this.#pendingRows === 0 || this.#closed) return undefined;
    const bytes = this.format.chunk(this.#pending);
    const rows = this.#pendingRows;
    this.#pending = [];
    this.#pendingLength = 0;
    this.#pendingRows = 0;
    const packed = await compress(bytes, compression);
    const { bytesMax, pot, user } = this.#parts;
    if (this.#end + packed.length > bytesMax || !pot.take(user, packed.length)) {
      const message = "The result is larger than this gateway keeps for a download.";
      return gatewayError("query.tooManyRows", { message });
    }
    this.#taken += packed.length;
    const [file, key] = await this.#opened();
    const sealed = createCipheriv(cipherName, key, nonceOf(this.#chunks.length)).update(packed);
    await file.write(sealed, 0, sealed.length, this.#end);
    this.#chunks.push({
      rows,
      uncompressed: bytes.length,
      compressed: packed.length,
      at: this.#end,
    });
    this.#end += packed.length;
    return undefined;
  }

  async #opened(): Promise<readonly [FileHandle, Uint8Array]> {
    this.#key ??= this.#parts.host.randomBytes(keyBytes);
    if (this.#file === undefined) {
      const name = Buffer.from(this.#parts.host.randomBytes(12)).toString("hex");
      const path = join(tmpdir(), `gateway-rows-${name}`);
      this.#file = await open(path, "wx+", 0o600);
      await unlink(path);
    }
    return [this.#file, this.#key];
  }
}

/** Each chunk has its own, and each key one file. */
function nonceOf(index: number): Buffer {
  const nonce = Buffer.alloc(16);
  nonce.writeUInt32BE(index, 0);
  return nonce;
}
