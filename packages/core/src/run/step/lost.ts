/**
 * A slot may be leased, and a lease may be lost: this process stood still, or was cut off for too long.
 * Nothing is begun under a lost slot, and what runs under it is ended. What became known too late,
 * between the look and the engine's answer, is ended at the answer. A slot in doubt is asked about first.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { Slot } from "../../query/slot.ts";

/** Why nothing may be sent to the engine under the slot at this moment; undefined when it may. */
export function lossOf({ lease }: Pick<Slot, "lease">): GatewayError | undefined {
  return lease === undefined || lease.valid() ? undefined : gatewayError("capacity.lost");
}

/** The same of a slot that `lossOf` took for lost, once those who gave it have been asked where it is in doubt. */
export async function lossAskedOf(slot: Pick<Slot, "lease">): Promise<GatewayError | undefined> {
  await slot.lease?.doubt();
  return lossOf(slot);
}

/** The same at the engine's first answer, about the statement for which the other was asked. */
export function lateLossOf({ lease }: Pick<Slot, "lease">): GatewayError | undefined {
  return lease === undefined || lease.stillValid() ? undefined : gatewayError("capacity.lost");
}

/** Ends the query when the slot is lost; until disposed. */
export function endedWhenLost(
  { lease }: Pick<Slot, "lease">,
  query: { cancel(reason: GatewayError): void },
): Disposable {
  return lease?.whenLost(() => query.cancel(gatewayError("capacity.lost"))) ?? nothing;
}

const nothing: Disposable = { [Symbol.dispose]: () => {} };
