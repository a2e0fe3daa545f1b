/**
 * The algorithms of the compressed protocol: zlib everywhere, zstd where the runtime has it.
 *
 * Small pieces are done at once, because a thread costs more than they do; large ones on the runtime's
 * thread pool. What a client sends is never inflated beyond the length it announced.
 */
import * as zlib from "node:zlib";
import { promisify } from "node:util";
import { capability } from "@gateway/wire/mysql/protocol.ts";

export interface Codec {
  readonly name: "zlib" | "zstd";
  /** For pieces of at most `inlineBytes`. */
  packNow(bytes: Uint8Array): Uint8Array;
  pack(bytes: Uint8Array): Promise<Uint8Array>;
  /** Undefined when the bytes do not hold exactly `length` bytes of content. */
  unpackNow(bytes: Uint8Array, length: number): Uint8Array | undefined;
  unpack(bytes: Uint8Array, length: number): Promise<Uint8Array | undefined>;
}

/** Content up to this size is packed and unpacked on the main thread, in well below a millisecond. */
export const inlineBytes = 16 * 1024;

/** Clients may ask for up to 22, but higher levels take hundreds of megabytes for a piece. */
const zstdLevelMax = 9;
const zstdLevelDefault = 3;

type PackSync = (bytes: Uint8Array, options: zlib.ZlibOptions) => Uint8Array;
type Pack = (bytes: Uint8Array, options: zlib.ZlibOptions) => Promise<Uint8Array>;

/** The four functions of one algorithm, all of the same shape in the runtime. */
interface Functions {
  readonly pack: Pack;
  readonly packSync: PackSync;
  readonly unpack: Pack;
  readonly unpackSync: PackSync;
}

const zlibFunctions: Functions = {
  pack: promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflate),
  packSync: zlib.deflateSync,
  unpack: promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflate),
  unpackSync: zlib.inflateSync,
};

const zstdFunctions = findZstd({ ...zlib });

/** Capability flags of the algorithms this runtime has. */
export const compressionFlags: number =
  capability.compress | (zstdFunctions === undefined ? 0 : capability.zstdCompression);

/** Their names, as `protocol_compression_algorithms` lists them. */
export const compressionNames: string =
  zstdFunctions === undefined ? "zlib,uncompressed" : "zlib,zstd,uncompressed";

/** The algorithm that both sides agreed on; undefined for none. A client that offers both gets zlib. */
export function codecOf(capabilities: number, zstdLevel: number | undefined): Codec | undefined {
  if ((capabilities & capability.compress) !== 0) return codec("zlib", zlibFunctions, {});
  const wanted = (capabilities & capability.zstdCompression) !== 0;
  if (!wanted || zstdFunctions === undefined) return undefined;
  const level = Math.min(Math.max(zstdLevel ?? zstdLevelDefault, 1), zstdLevelMax);
  return codec("zstd", zstdFunctions, { params: { [zstdLevelParameter]: level } });
}

/** Source: `ZSTD_c_compressionLevel` in zstd.h. */
const zstdLevelParameter = 100;

function codec(name: Codec["name"], functions: Functions, options: object): Codec {
  const { pack, packSync, unpack, unpackSync } = functions;
  return {
    name,
    packNow: (bytes) => packSync(bytes, options),
    pack: (bytes) => pack(bytes, options),
    unpackNow: (bytes, length) => {
      try {
        return exactly(unpackSync(bytes, { maxOutputLength: length }), length);
      } catch {
        // Not of this algorithm, or longer than announced.
        return undefined;
      }
    },
    unpack: async (bytes, length) => {
      try {
        return exactly(await unpack(bytes, { maxOutputLength: length }), length);
      } catch {
        return undefined;
      }
    },
  };
}

function exactly(content: Uint8Array, length: number): Uint8Array | undefined {
  return content.length === length ? content : undefined;
}

/** The types of the oldest runtime do not know these names, so they are looked for. */
function findZstd(names: Readonly<Record<string, unknown>>): Functions | undefined {
  const { zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } = names;
  if (
    typeof zstdCompress !== "function" ||
    typeof zstdCompressSync !== "function" ||
    typeof zstdDecompress !== "function" ||
    typeof zstdDecompressSync !== "function"
  ) {
    return undefined;
  }
  return {
    pack: promisify(zstdCompress as typeof zlib.deflate),
    packSync: zstdCompressSync as PackSync,
    unpack: promisify(zstdDecompress as typeof zlib.inflate),
    unpackSync: zstdDecompressSync as PackSync,
  };
}
