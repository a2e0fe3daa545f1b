/** Positions in the log: `epoch.sequence`. */
import type { Revision } from "../api/shapes.ts";

export function positionOf({ epoch, sequence }: Pick<Revision, "epoch" | "sequence">): string {
  return `${epoch}.${sequence}`;
}

/** Of a revision's text, `epoch.sequence.hash`. */
export function positionIn(revision: string): string {
  return revision.split(".").slice(0, 2).join(".");
}

/** The one before; undefined for the first of an epoch, whose forerunner only the log knows. */
export function positionBefore(position: string): string | undefined {
  const [epoch = "", sequence = ""] = position.split(".");
  const before = Number(sequence) - 1;
  return before >= 1 ? `${epoch}.${before}` : undefined;
}
