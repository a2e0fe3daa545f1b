/** Steps of a connection compared: which of them the next session sets anew, and what has to be taken back. */
import type { ConnectionStep } from "../../native/message.ts";
import type { Profile } from "../profile.ts";

/** Whether `next` sets everything anew that `before` had set, so that nothing of it is left. */
export function covers(
  next: readonly ConnectionStep[],
  before: readonly ConnectionStep[],
): boolean {
  const said = new Set(next.map(objectOf));
  return before.every((step) => said.has(objectOf(step)));
}

/** Steps that take back what `before` set and `next` does not set anew, where the driver has such. */
export function undone(
  { undoneStep }: Profile,
  next: readonly ConnectionStep[],
  before: readonly ConnectionStep[],
): readonly ConnectionStep[] {
  if (undoneStep === undefined) return [];
  const said = new Set(next.map(objectOf));
  const left = before.filter((step) => !said.has(objectOf(step)));
  return [...new Set(left.flatMap((step) => undoneStep(step) ?? []))];
}

/** `USE SCHEMA` of `USE SCHEMA "s"`; an option's key. */
function objectOf(step: ConnectionStep): string {
  return typeof step === "string" ? step.split(" ", 2).join(" ") : step[0];
}

/** Whether both are the same steps in the same order. */
export function sameSteps(
  left: readonly ConnectionStep[],
  right: readonly ConnectionStep[],
): boolean {
  return left.length === right.length && left.every((one, index) => isSame(one, right[index]));
}

function isSame(left: ConnectionStep, right: ConnectionStep | undefined): boolean {
  if (typeof left === "string" || typeof right === "string") return left === right;
  return left[0] === right?.[0] && left[1] === right[1];
}
