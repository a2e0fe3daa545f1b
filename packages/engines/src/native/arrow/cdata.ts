/**
 * Reads the Arrow C data interface out of native memory: schemas into plain descriptions, arrays
 * into addresses. It copies no cell; what becomes of the buffers is in gather.ts.
 */
import { arrayStruct, schemaStruct } from "../memory/abi.ts";
import {
  addressIn,
  addressOf,
  bytesAt,
  copy,
  countIn,
  functionAt,
  textAt,
  type Address,
} from "../memory/native.ts";

/** An `ArrowSchema` as data. `format` is the C data interface's own short text (`i`, `tsu:UTC`, `+l`). */
export interface ArrowField {
  readonly name: string;
  readonly format: string;
  readonly nullable: boolean;
  readonly metadata: ReadonlyMap<string, string>;
  readonly children: readonly ArrowField[];
  readonly dictionary: ArrowField | undefined;
}

/** An `ArrowArray` as data. `offset` counts rows before the first one; `nullCount` -1 means nobody counted. */
export interface ArrowArray {
  readonly length: number;
  readonly nullCount: number;
  readonly offset: number;
  readonly buffers: readonly Address[];
  /** Address of the list of children. */
  readonly children: Address;
  readonly childCount: number;
  readonly dictionary: Address;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Reads a schema and everything below it. It stays the driver's: `releaseSchema` gives it back. */
export function readSchema(address: Address): ArrowField {
  const view = viewAt(address, schemaStruct.bytes);
  const childCount = countIn(view, schemaStruct.childCount);
  const children = viewAt(addressIn(view, schemaStruct.children), childCount * 8);
  const dictionary = addressIn(view, schemaStruct.dictionary);
  return {
    name: textAt(addressIn(view, schemaStruct.name)),
    format: textAt(addressIn(view, schemaStruct.format)),
    nullable: (countIn(view, schemaStruct.flags) & schemaStruct.flagNullable) !== 0,
    metadata: readMetadata(addressIn(view, schemaStruct.metadata)),
    children: Array.from({ length: childCount }, (_, index) =>
      readSchema(addressIn(children, index * 8)),
    ),
    dictionary: dictionary === 0 ? undefined : readSchema(dictionary),
  };
}

/** Calls a struct's own release function, unless it was released already. */
export function releaseSchema(address: Address): void {
  releaseBy(address, schemaStruct.release);
}

export function releaseArray(address: Address): void {
  releaseBy(address, arrayStruct.release);
}

/** True for an array that a stream filled; the end of a stream is an array without a release function. */
export function isPresent(array: Address): boolean {
  return addressIn(scratchAt(array + arrayStruct.release, 8), 0) !== 0;
}

/** Reads one array; its children are read by `childAt`. */
export function readArray(address: Address): ArrowArray {
  const view = scratchAt(address, arrayStruct.bytes);
  const length = countIn(view, arrayStruct.length);
  const nullCount = countIn(view, arrayStruct.nullCount);
  const offset = countIn(view, arrayStruct.offset);
  const bufferCount = countIn(view, arrayStruct.bufferCount);
  const childCount = countIn(view, arrayStruct.childCount);
  const children = addressIn(view, arrayStruct.children);
  const dictionary = addressIn(view, arrayStruct.dictionary);
  const list = scratchAt(addressIn(view, arrayStruct.buffers), bufferCount * 8);
  const buffers: Address[] = [];
  for (let index = 0; index < bufferCount; index += 1) buffers.push(addressIn(list, index * 8));
  return { length, nullCount, offset, buffers, children, childCount, dictionary };
}

/** Address of one child of an array. */
export function childAt(array: ArrowArray, index: number): Address {
  if (index >= array.childCount) throw new Error("an array has fewer children than its schema");
  return addressIn(scratchAt(array.children + index * 8, 8), 0);
}

/** The metadata of a field: a count, then keys and values with their lengths, in the machine's byte order. */
function readMetadata(address: Address): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>();
  if (address === 0) return metadata;
  let at = address;
  const word = (): number => {
    const value = scratchAt(at, 4).getInt32(0, true);
    at += 4;
    return value;
  };
  const text = (): string => {
    const length = word();
    const bytes = bytesAt(at, length);
    at += length;
    return decoder.decode(bytes);
  };
  const count = word();
  for (let index = 0; index < count; index += 1) {
    const key = text();
    metadata.set(key, text());
  }
  return metadata;
}

/** Room for the largest struct and for a list of buffers; reused by every read, so it is never kept. */
const scratch = new DataView(new ArrayBuffer(256));
const scratchAddress = addressOf(scratch.buffer);

function scratchAt(address: Address, bytes: number): DataView {
  if (bytes > scratch.byteLength) return viewAt(address, bytes);
  copy(scratchAddress, address, bytes);
  return scratch;
}

function viewAt(address: Address, bytes: number): DataView {
  return new DataView(bytesAt(address, bytes).buffer);
}

const releaseSignature = { answer: "void", takes: ["pointer"] } as const;

function releaseBy(address: Address, at: number): void {
  const release = addressIn(scratchAt(address + at, 8), 0);
  if (release !== 0) functionAt(release, releaseSignature)(address);
}
