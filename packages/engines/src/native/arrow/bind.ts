/**
 * Parameters as one row of the Arrow C data interface, for `StatementBind`.
 *
 * The structs live in one block of native memory that must stay until the statement was released.
 * Their release function is a native one that frees nothing: drivers may call it on a thread of
 * their own, where a JavaScript callback would wait for an event loop that is blocked in the driver.
 */
import { vectorOf } from "@gateway/core/type/build.ts";
import type { DataType, Parameter, TimeUnit, Value } from "@gateway/core/type/type.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import { arrayStruct, schemaStruct } from "../memory/abi.ts";
import {
  addressOf,
  allocate,
  MemoryBlock,
  copy,
  loadLibrary,
  nullWriter,
  release,
  type Address,
} from "../memory/native.ts";

/** One row of parameters in native memory. */
export interface BoundRow extends Disposable {
  readonly array: Address;
  readonly schema: Address;
}

/** Lays the parameters out in order. A value that does not fit its type is a bug of the caller and throws. */
export function bindRow(parameters: readonly Parameter[]): BoundRow {
  const memory = new NativeMemory();
  const vectors = parameters.map(({ type, value }) => vectorOf(bound(type), [scaled(type, value)]));
  const row: Vector = {
    type: {
      kind: "struct",
      fields: vectors.map(({ type }, index) => ({ name: `${index + 1}`, type })),
    },
    length: 1,
    offset: 0,
    validity: undefined,
    values: new Uint8Array(0),
    offsets: undefined,
    children: vectors,
  };
  return {
    schema: memory.schema("", row.type),
    array: memory.array(row),
    [Symbol.dispose]: () => memory[Symbol.dispose](),
  };
}

/** The type as it is sent: Arrow has no 64-bit time in seconds or milliseconds. */
function bound(type: DataType): DataType {
  return type.kind === "time" ? { kind: "time", unit: type.unit === "ns" ? "ns" : "us" } : type;
}

const timeFactors = { s: 1_000_000n, ms: 1_000n, us: 1n, ns: 1n } as const satisfies Record<
  TimeUnit,
  bigint
>;

function scaled(type: DataType, value: Value): Value {
  return type.kind === "time" && typeof value === "bigint" ? value * timeFactors[type.unit] : value;
}

/** A C function that takes a pointer, touches nothing and is the same on every thread: `labs`. */
const doNothing = loadLibrary(null).addressOf("labs") ?? 0;
/**
 * What the C data interface asks of a release function: the struct is marked as released by a NULL in
 * its own place. Drivers written in Go end the process without it.
 */
const releasesSchema = nullWriter(schemaStruct.release) ?? doNothing;
const releasesArray = nullWriter(arrayStruct.release) ?? doNothing;

/** Blocks given back together. */
class NativeMemory implements Disposable {
  readonly #blocks: Address[] = [];
  readonly #structs: MemoryBlock[] = [];

  schema(name: string, type: DataType): Address {
    const { format, metadata, children } = schemaOf(type);
    const struct = this.#struct(schemaStruct.bytes);
    struct.put(schemaStruct.format, this.#text(format));
    struct.put(schemaStruct.name, this.#text(name));
    struct.put(
      schemaStruct.metadata,
      metadata.length === 0 ? 0 : this.#bytes(metadataBytes(metadata)),
    );
    struct.put(schemaStruct.flags, schemaStruct.flagNullable);
    struct.put(schemaStruct.childCount, children.length);
    struct.put(
      schemaStruct.children,
      this.#list(children.map((child) => this.schema(child.name, child.type))),
    );
    struct.put(schemaStruct.release, releasesSchema);
    return struct.address;
  }

  array(vector: Vector): Address {
    const buffers = vector.type.kind === "null" ? [] : this.#buffers(vector);
    const children = arrayChildren(vector);
    const struct = this.#struct(arrayStruct.bytes);
    struct.put(arrayStruct.length, vector.length);
    struct.put(arrayStruct.nullCount, nullCount(vector));
    struct.put(arrayStruct.bufferCount, buffers.length);
    struct.put(arrayStruct.buffers, this.#list(buffers));
    struct.put(arrayStruct.childCount, children.length);
    struct.put(arrayStruct.children, this.#list(children.map((child) => this.array(child))));
    struct.put(arrayStruct.release, releasesArray);
    return struct.address;
  }

  [Symbol.dispose](): void {
    for (const block of this.#structs.splice(0)) block[Symbol.dispose]();
    for (const address of this.#blocks.splice(0)) release(address);
  }

  #buffers({ type, validity, values, offsets }: Vector): Address[] {
    const bitmap = validity === undefined ? 0 : this.#bytes(validity);
    if (type.kind === "struct") return [bitmap];
    if (offsets === undefined) return [bitmap, this.#bytes(values)];
    const ends = this.#bytes(
      new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength),
    );
    const nested = type.kind === "list" || type.kind === "map";
    return nested ? [bitmap, ends] : [bitmap, ends, this.#bytes(values)];
  }

  #struct(bytes: number): MemoryBlock {
    const block = new MemoryBlock(bytes);
    this.#structs.push(block);
    return block;
  }

  #text(text: string): Address {
    return this.#bytes(new TextEncoder().encode(`${text}\0`));
  }

  #list(addresses: readonly Address[]): Address {
    if (addresses.length === 0) return 0;
    return this.#bytes(new Uint8Array(BigUint64Array.from(addresses, BigInt).buffer));
  }

  #bytes(bytes: Uint8Array): Address {
    const address = allocate(Math.max(bytes.length, 8));
    this.#blocks.push(address);
    const own = bytes.slice();
    copy(address, addressOf(own.buffer), own.length);
    return address;
  }
}

function nullCount({ type, length, validity }: Vector): number {
  if (type.kind === "null") return length;
  return validity === undefined ? 0 : -1;
}

/** A map's entries are a struct of keys and values, which the neutral layout leaves out. */
function arrayChildren(vector: Vector): readonly Vector[] {
  if (vector.type.kind !== "map") return vector.children;
  const [keys] = vector.children;
  const entry: DataType = { kind: "struct", fields: entryFields(vector.type) };
  const none = { offset: 0, validity: undefined, values: new Uint8Array(0), offsets: undefined };
  return [{ ...none, type: entry, length: keys?.length ?? 0, children: vector.children }];
}

function entryFields({ key, value }: Extract<DataType, { kind: "map" }>) {
  return [
    { name: "key", type: key },
    { name: "value", type: value },
  ];
}

interface SchemaParts {
  readonly format: string;
  readonly metadata: readonly (readonly [string, string])[];
  readonly children: readonly { readonly name: string; readonly type: DataType }[];
}

function schemaOf(type: DataType): SchemaParts {
  switch (type.kind) {
    case "integer":
      if (type.bits === 128) return opaque("w:16", type.signed ? "hugeint" : "uhugeint");
      return plain(integerFormats[type.signed ? "signed" : "unsigned"][type.bits]);
    case "float":
      return plain(type.bits === 32 ? "f" : "g");
    case "decimal":
      return plain(`d:${type.precision},${type.scale}`);
    case "time":
      return plain(type.unit === "ns" ? "ttn" : "ttu");
    case "timestamp":
      return plain(`ts${unitLetters[type.unit]}:${type.zoned ? "UTC" : ""}`);
    case "uuid":
      return {
        ...plain("w:16"),
        metadata: [
          ["ARROW:extension:name", "arrow.uuid"],
          ["ARROW:extension:metadata", ""],
        ],
      };
    case "list":
      return { ...plain("+l"), children: [{ name: "item", type: type.item }] };
    case "struct":
      return { ...plain("+s"), children: type.fields };
    case "map": {
      const entries: DataType = { kind: "struct", fields: entryFields(type) };
      return { ...plain("+m"), children: [{ name: "entries", type: entries }] };
    }
    default:
      return plain(plainFormats[type.kind]);
  }
}

function plain(format: string): SchemaParts {
  return { format, metadata: [], children: [] };
}

function opaque(format: string, name: string): SchemaParts {
  return {
    ...plain(format),
    metadata: [
      ["ARROW:extension:name", "arrow.opaque"],
      ["ARROW:extension:metadata", `{"type_name":"${name}","vendor_name":"DuckDB"}`],
    ],
  };
}

const plainFormats = {
  null: "n",
  boolean: "b",
  text: "u",
  // As text: it then compares with text columns and converts into JSON ones alike.
  json: "u",
  binary: "z",
  date: "tdD",
  interval: "tin",
} as const;

const integerFormats = {
  signed: { 8: "c", 16: "s", 32: "i", 64: "l" },
  unsigned: { 8: "C", 16: "S", 32: "I", 64: "L" },
} as const;

const unitLetters = { s: "s", ms: "m", us: "u", ns: "n" } as const satisfies Record<
  TimeUnit,
  string
>;

function metadataBytes(metadata: readonly (readonly [string, string])[]): Uint8Array {
  const texts = metadata.flat().map((text) => new TextEncoder().encode(text));
  const bytes = new Uint8Array(4 + texts.reduce((sum, text) => sum + 4 + text.length, 0));
  const view = new DataView(bytes.buffer);
  view.setInt32(0, metadata.length, true);
  let at = 4;
  for (const text of texts) {
    view.setInt32(at, text.length, true);
    bytes.set(text, at + 4);
    at += 4 + text.length;
  }
  return bytes;
}
