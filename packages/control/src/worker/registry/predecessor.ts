/**
 * The proof that a worker's previous instance has ended, as `RegisterRequest.predecessorProof`
 * defines it: made by whoever holds the old instance's token, checked against the kept hash.
 */
import { createHmac } from "node:crypto";
import { predecessorText } from "@gateway/contract/workerApi.ts";
import { sameSecret, tokenHashOf } from "../../http/secretCompare.ts";
import type { WorkerRow } from "../../store/store.ts";

/** What a worker sends that finds the id and token of an earlier instance in its state folder. */
export function predecessorProofOf(
  predecessor: { readonly instanceId: string; readonly instanceToken: string },
  instanceId: string,
): string {
  const mac = macOf(tokenHashOf(predecessor.instanceToken), predecessor.instanceId, instanceId);
  return `${predecessor.instanceId}.${mac}`;
}

/** True when `proof` shows that `row` is the ended predecessor of `instanceId`. */
export function provesEnd(proof: string, row: WorkerRow, instanceId: string): boolean {
  const expected = `${row.instanceId}.${macOf(row.tokenHash, row.instanceId, instanceId)}`;
  return sameSecret(proof, expected);
}

function macOf(tokenHash: string, predecessorId: string, instanceId: string): string {
  const text = predecessorText(predecessorId, instanceId);
  return createHmac("sha256", tokenHash).update(text, "utf8").digest("hex");
}
