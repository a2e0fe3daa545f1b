/**
 * The spool's books: which places still wait, how many queries were begun and have no record yet,
 * and how many records were lost. One small file, overwritten for every query before an engine sees
 * it, so that the next start after a kill knows how many records are missing.
 *
 * It holds numbers only and is not sealed: a query can not wait for a cipher. A checksum shows
 * damage.
 */
import { crc32 } from "node:zlib";

/** Places in [from, until) are under way, places from `resume` on wait; all others are done. */
export interface SpoolCount {
  readonly from: number;
  readonly until: number;
  readonly resume: number;
  /** The first place that is free. */
  readonly next: number;
  /** Queries that were begun and whose record is neither sent nor lost; running ones count, too. */
  readonly waiting: number;
  /** Records declared lost since the folder was made. */
  readonly dropped: number;
}

const magic = Buffer.from("GWC1", "latin1");
const fields = ["from", "until", "resume", "next", "waiting", "dropped"] as const;
const [checkAt, fieldsAt, fieldBytes] = [4, 8, 8];

/** Bytes of the file. */
export const spoolCountBytes = fieldsAt + fields.length * fieldBytes;

/** Writes the count into `target`, which is as long as the file. */
export function putSpoolCount(target: Buffer, count: SpoolCount): void {
  target.set(magic);
  fields.forEach((field, index) => {
    target.writeDoubleLE(count[field], fieldsAt + index * fieldBytes);
  });
  target.writeUInt32LE(crc32(target.subarray(fieldsAt)), checkAt);
}

/** Undefined for what `putSpoolCount` did not write. Never throws. */
export function spoolCountOf(bytes: Uint8Array): SpoolCount | undefined {
  if (bytes.length !== spoolCountBytes) return undefined;
  const file = Buffer.from(bytes);
  if (file.compare(magic, 0, magic.length, 0, magic.length) !== 0) return undefined;
  if (file.readUInt32LE(checkAt) !== crc32(file.subarray(fieldsAt))) return undefined;
  const [from = 0, until = 0, resume = 0, next = 0, waiting = 0, dropped = 0] = fields.map(
    (_field, index) => file.readDoubleLE(fieldsAt + index * fieldBytes),
  );
  const count = { from, until, resume, next, waiting, dropped };
  return Object.values(count).every((value) => Number.isSafeInteger(value) && value >= 0)
    ? count
    : undefined;
}
