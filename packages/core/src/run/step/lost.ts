/**
 * A slot may be leased, and a lease may be lost: this process stood still, or was cut off for too long.
 * Nothing begins under a lost slot, and what runs under it is ended. A loss that shows only between the
 * check and the engine's first answer ends the query at that answer. A slot in doubt is asked about first.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { Slot } from "../../query/slot.ts";

/** Why nothing may be sent to the engine under the slot now; undefined when something may. */
export function lossOf({ lease }: Pick<Slot, "lease">): GatewayError | undefined {
  return lease === undefined || lease.valid() ? undefined : gatewayError("capacity.lost");
}

/** Checks again a slot that `lossOf` called lost: if it is only in doubt, whoever leased it is asked first. */
export async function lossAskedOf(slot: Pick<Slot, "lease">): Promise<GatewayError | undefined> {
  await slot.lease?.doubt();
  return lossOf(slot);
}

/** The check at the engine's first answer: why the statement that was sent after `lossOf` must not go on. */
export function lateLossOf({ lease }: Pick<Slot, "lease">): GatewayError | undefined {
  return lease === undefined || lease.stillValid() ? undefined : gatewayError("capacity.lost");
}

/** Cancels the query when its slot is lost, until disposed. */
export function endedWhenLost(
  { lease }: Pick<Slot, "lease">,
  query: { cancel(reason: GatewayError): void },
): Disposable {
  return lease?.whenLost(() => query.cancel(gatewayError("capacity.lost"))) ?? nothing;
}

const nothing: Disposable = { [Symbol.dispose]: () => {} };
