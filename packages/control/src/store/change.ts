/** What a change of the configuration must be, whatever keeps it. A breach is a bug of the writer. */
import { compareRevisions } from "@gateway/contract/revision.ts";
import type { ConfigChange, DocumentName } from "./store.ts";

/**
 * Throws for a change that would move the log backwards, or that says two things about one object:
 * a database would apply one of them, and nobody could say which.
 */
export function assertChange({ expected, next, puts, deletes }: ConfigChange): void {
  if (expected !== undefined && compareRevisions(next.revision, expected) <= 0) {
    throw new Error("a revision must be newer than the one it was built on");
  }
  const names = new Set([...puts, ...deletes].map(documentKey));
  if (names.size !== puts.length + deletes.length) {
    throw new Error("a change names one object twice");
  }
}

/** One text per object. Kinds are a closed list without a slash, so two objects can not share one. */
export function documentKey({ kind, name }: DocumentName): string {
  return `${kind}/${name}`;
}
