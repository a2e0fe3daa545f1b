/**
 * The bytes of the query book: a head, and a slot for each query whose record is neither kept nor
 * lost yet. It only reads and writes buffers; the file is queryBook.ts.
 *
 * Each slot lies within one page of the system's memory and is written at once, so a kill leaves
 * the old slot or the new one. A checksum shows what a loss of power damaged.
 */
import { crc32 } from "node:zlib";

/** `open`: the last process wrote neither of the other words, so it was killed. */
export type LastWord = "open" | "crashed" | "closed";

export interface BookHead {
  /** Records declared lost since the file was made. */
  readonly dropped: number;
  /** Queries with a lower number have an end, whatever their slots say. */
  readonly doneBelow: number;
  /** This query has an end as well. It is counted in `dropped`, and its slot may not show that yet. */
  readonly done: number;
  readonly word: LastWord;
}

export interface BookEntry {
  /** Order of the queries, from 1. */
  readonly number: number;
  readonly queryId: string;
  /** False once its record was made. */
  readonly running: boolean;
}

/** Bytes of the head, and of each slot behind it. */
export const slotBytes = 64;
/** The byte of a slot that says whether the record was made. The checksum leaves it out. */
export const stateAt = 4;
export const [stateRunning, stateEnded] = [1, 2];

const [lengthAt, numberAt, idAt] = [5, 8, 16];
const idBytesMax = slotBytes - idAt;
const magic = "GWB1";
const words = ["open", "crashed", "closed"] as const;

/** Writes the head into `target`. */
export function putHead(target: Buffer, { dropped, doneBelow, done, word }: BookHead): void {
  target.fill(0, 0, slotBytes);
  target.write(magic, 4, "latin1");
  target.writeDoubleLE(dropped, 8);
  target.writeDoubleLE(doneBelow, 16);
  target.writeDoubleLE(done, 24);
  target.writeUInt8(words.indexOf(word), 32);
  target.writeUInt32LE(crc32(target.subarray(4, slotBytes)), 0);
}

/** Undefined for what `putHead` did not write. */
export function headOf(bytes: Buffer): BookHead | undefined {
  if (bytes.length < slotBytes || bytes.toString("latin1", 4, 8) !== magic) return undefined;
  if (bytes.readUInt32LE(0) !== crc32(bytes.subarray(4, slotBytes))) return undefined;
  const word = words[bytes.readUInt8(32)];
  const [dropped, doneBelow, done] = [8, 16, 24].map((at) => bytes.readDoubleLE(at));
  if (word === undefined) return undefined;
  return { dropped: dropped ?? 0, doneBelow: doneBelow ?? 0, done: done ?? 0, word };
}

/** Writes the slot of a query that runs. An id is shorter than a slot: this program makes them. */
export function putSlot(target: Buffer, number: number, queryId: string): void {
  const length = target.write(queryId, idAt, idBytesMax, "utf8");
  target.fill(0, idAt + length, slotBytes);
  target.writeUInt8(stateRunning, stateAt);
  target.writeUInt8(length, lengthAt);
  target.writeDoubleLE(number, numberAt);
  target.writeUInt32LE(crc32(target.subarray(lengthAt, slotBytes)), 0);
}

/** What the slots behind the head hold, in the order of the queries. */
export function entriesOf(bytes: Buffer, { doneBelow, done }: BookHead): readonly BookEntry[] {
  const found: BookEntry[] = [];
  for (let at = slotBytes; at + slotBytes <= bytes.length; at += slotBytes) {
    const slot = bytes.subarray(at, at + slotBytes);
    const length = slot.readUInt8(lengthAt);
    if (length === 0 || length > idBytesMax) continue;
    if (slot.readUInt32LE(0) !== crc32(slot.subarray(lengthAt))) continue;
    const number = slot.readDoubleLE(numberAt);
    if (number < doneBelow || number === done) continue;
    const running = slot.readUInt8(stateAt) === stateRunning;
    found.push({ number, queryId: slot.toString("utf8", idAt, idAt + length), running });
  }
  return found.toSorted((a, b) => a.number - b.number);
}
