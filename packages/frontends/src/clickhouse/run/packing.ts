/** How the bytes of an answer are packed: as they are, in an HTTP encoding, or in ClickHouse's compressed blocks. */
import { promisify } from "node:util";
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import { compressedBlocks } from "@gateway/wire/clickhouse/compressed.ts";
import { drained, type HttpResponse } from "../../listener/http/exchange.ts";

export interface Packing {
  /** The `Content-Encoding`. */
  readonly encoding: string | undefined;
  /** Everything at once. */
  whole(bytes: Uint8Array): Promise<Uint8Array>;
  write(bytes: Uint8Array, response: HttpResponse): Promise<void> | undefined;
  /** Sends what was written so far, before a break. */
  flush(response: HttpResponse): Promise<void>;
  /** Sends the rest. The response itself is not ended. */
  end(response: HttpResponse): Promise<void>;
}

function sent(bytes: Uint8Array, response: HttpResponse): Promise<void> | undefined {
  return response.write(bytes) ? undefined : drained(response);
}

/** Bytes as they are. */
export const unpackedBytes: Packing = {
  encoding: undefined,
  whole: async (bytes) => bytes,
  write: sent,
  flush: async () => undefined,
  end: async () => undefined,
};

/** `compress=1`. Each piece is a block or more of its own. */
export const blockPacking: Packing = {
  ...unpackedBytes,
  whole: async (bytes) => compressedBlocks(bytes),
  write: (bytes, response) => sent(compressedBlocks(bytes), response),
};

type Whole = (bytes: Uint8Array) => Promise<Buffer>;
/** Node's streams of compressed bytes. */
type Packer = Transform & Pick<zlib.Gzip, "flush">;

interface Encoding {
  readonly whole: Whole;
  readonly open: () => Packer;
}

/** Speed before size: the gateway packs for others on the same cores. */
const quick = { level: 1 } as const;
const quickBrotli = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } } as const;
const gzip = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gzip);
const deflate = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflate);
const brotli = promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);

const encodings: ReadonlyMap<string, Encoding> = new Map<string, Encoding>([
  ["gzip", { whole: (bytes) => gzip(bytes, quick), open: () => zlib.createGzip(quick) }],
  ["deflate", { whole: (bytes) => deflate(bytes, quick), open: () => zlib.createDeflate(quick) }],
  [
    "br",
    {
      whole: (bytes) => brotli(bytes, quickBrotli),
      open: () => zlib.createBrotliCompress(quickBrotli),
    },
  ],
  ...zstdOf({ ...zlib }),
]);

/** Where the runtime has it (Node 22.15 and newer). */
function zstdOf(
  names: Readonly<Record<string, unknown>>,
): readonly (readonly [string, Encoding])[] {
  const { zstdCompress, createZstdCompress } = names;
  if (typeof zstdCompress !== "function" || typeof createZstdCompress !== "function") return [];
  const whole = promisify(zstdCompress as typeof zlib.gzip) as (
    bytes: Uint8Array,
  ) => Promise<Buffer>;
  return [["zstd", { whole, open: createZstdCompress as () => Packer }]];
}

/** The first encoding of an `Accept-Encoding` that is known here; bytes as they are where there is none. */
export function packingOf(accepted: string | undefined): Packing {
  for (const item of (accepted ?? "").split(",")) {
    const [name = "", ...more] = item.split(";").map((part) => part.trim().toLowerCase());
    if (more.some((part) => /^q=0(?:\.0*)?$/.test(part))) continue;
    const encoding = encodings.get(name);
    if (encoding !== undefined) return new Encoded(name, encoding);
  }
  return unpackedBytes;
}

/** A stream of packed bytes, whose output goes to the response as it comes. */
class Encoded implements Packing {
  readonly encoding: string;
  readonly #made: Encoding;
  #packer: Packer | undefined;

  constructor(encoding: string, made: Encoding) {
    this.encoding = encoding;
    this.#made = made;
  }

  whole(bytes: Uint8Array): Promise<Uint8Array> {
    return this.#made.whole(bytes);
  }

  /** One piece at a time: its packed bytes are out before the next is asked for. */
  async write(bytes: Uint8Array, response: HttpResponse): Promise<void> {
    const packer = this.#opened(response);
    await new Promise<void>((resolve) => {
      packer.write(bytes, () => resolve());
    });
    if (response.writableNeedDrain) await drained(response);
  }

  async flush(response: HttpResponse): Promise<void> {
    const packer = this.#opened(response);
    await new Promise<void>((resolve) => {
      packer.once("close", resolve);
      packer.flush(() => resolve());
    });
  }

  async end(response: HttpResponse): Promise<void> {
    const packer = this.#opened(response);
    await new Promise<void>((resolve) => {
      packer.once("end", resolve);
      packer.once("close", resolve);
      packer.end();
    });
  }

  #opened(response: HttpResponse): Packer {
    if (this.#packer !== undefined) return this.#packer;
    const packer = this.#made.open();
    packer.on("data", (chunk: Buffer) => void response.write(chunk));
    response.once("close", () => packer.destroy());
    this.#packer = packer;
    return packer;
  }
}
