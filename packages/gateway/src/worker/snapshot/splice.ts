/** Puts a snapshot together from one that is known here and a difference (`contract/snapshotDelta.ts`). Verifies nothing. */
import {
  spliceLineMax,
  spliceLineSchema,
  spliceMiddleMax,
  type SpliceLine,
} from "@gateway/contract/snapshotDelta.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { jsonIn } from "../link/presence.ts";
import { snapshotInflatedBytesMax } from "../limits.ts";
import type { SnapshotFault } from "./verify.ts";

const lineEnd = 0x0a;

/** `{head, …body}` as a whole snapshot is served. `base`: canonical JSON of the body that is known. */
export function spliced(base: Uint8Array, answer: Uint8Array): Result<Uint8Array, SnapshotFault> {
  const end = answer.subarray(0, spliceLineMax).indexOf(lineEnd);
  const read = spliceLineSchema.safeParse(end < 0 ? undefined : jsonIn(answer.subarray(0, end)));
  if (!read.success) return err({ code: "shape", path: "splice" });
  const middle = answer.subarray(end + 1);
  const fault = faultIn(read.data, base, middle);
  if (fault !== undefined) return err(fault);
  const { head, front, back } = read.data;
  // The body's opening brace gives its place to the comma behind the head.
  const opening = Buffer.from(`{"head":${JSON.stringify(head)},`, "utf8");
  const last = base.subarray(base.length - back);
  return ok(Buffer.concat([opening, base.subarray(1, front), middle, last]));
}

function faultIn(
  { front, back }: SpliceLine,
  base: Uint8Array,
  middle: Uint8Array,
): SnapshotFault | undefined {
  if (front + back > base.length || middle.length > spliceMiddleMax) {
    return { code: "shape", path: "splice" };
  }
  const bytesMax = snapshotInflatedBytesMax;
  return front + middle.length + back > bytesMax ? { code: "tooLarge", bytesMax } : undefined;
}
