/**
 * The position of a configuration in its log, and the hash of its content.
 *
 * (epoch, sequence) orders revisions, so a replica that serves an old one can not move a worker
 * backwards; the hash says whether two are the same. Neither alone can do both.
 */
import { z } from "zod";

/** `sha256:` and 64 hex digits over the canonical JSON of a snapshot without its head. */
export const revisionHashSchema = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hex digits");

export interface Revision {
  /** Unix seconds at which this log began; a log that was restored from a backup gets a newer one. */
  readonly epoch: number;
  /** Counts from 1 within the epoch. Equal content makes no new one. */
  readonly sequence: number;
  /** `sha256:…` */
  readonly hash: string;
}

/** Negative when `a` is older than `b`. Looks at the position only. */
export function compareRevisions(a: Revision, b: Revision): number {
  return a.epoch - b.epoch || a.sequence - b.sequence;
}

/** True for the same position and the same content. */
export function sameRevision(a: Revision, b: Revision): boolean {
  return compareRevisions(a, b) === 0 && a.hash === b.hash;
}

/** `epoch.sequence.hash`, as records and logs have it. */
export function revisionText({ epoch, sequence, hash }: Revision): string {
  return `${epoch}.${sequence}.${hash}`;
}

/** The strong ETag of a snapshot: `"epoch.sequence.hash"`, quotes included. */
export function etagOf(revision: Revision): string {
  return `"${revisionText(revision)}"`;
}

/** Reads what `etagOf` or `revisionText` wrote; undefined for anything else. */
export function parseRevision(text: string): Revision | undefined {
  const match = /^"?(\d{1,15})\.(\d{1,15})\.(sha256:[0-9a-f]{64})"?$/.exec(text);
  const [, epoch, sequence, hash] = match ?? [];
  if (epoch === undefined || sequence === undefined || hash === undefined) return undefined;
  return { epoch: Number(epoch), sequence: Number(sequence), hash };
}
