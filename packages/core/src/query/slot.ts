/**
 * The right to run. A slot stands for one running query on one cluster and is held in every scope
 * that has a cap: the cluster, and the cluster within the group.
 */

/** Disposing gives the slot back, once; it never rejects. */
export interface Slot extends AsyncDisposable {
  readonly cluster: string;
  /** Disposes at once; absent where giving it back takes a wait. */
  release?(): void;
  /** Grows with every grant of a slot, so that a late release by an old holder is noticed. */
  readonly fence: number;
  /** `<instance>/<lease>`: the holder, as the tags of statements name it. Letters, digits, `-` and `_`. */
  readonly holder: string;
  /** Set where the slot is leased from others, who may take it away. */
  readonly lease?: SlotLease;
}

/** The lease behind a slot: what whoever leased it to this process says about it. */
export interface SlotLease {
  /** Longest time limit with which a statement may be sent to the engine, in milliseconds; undefined means none was agreed on. */
  readonly maxExecutionMs: number | undefined;
  /** Whether a statement may be sent under the slot at this moment. Asked right before its bytes are written. */
  valid(): boolean;
  /**
   * In doubt because this process stood still: resolves once whoever leased the slot has said whether it is
   * still ours, after some seconds at most. `valid` knows then. Never rejects; undefined when nothing is in doubt.
   */
  doubt(): Promise<void> | undefined;
  /**
   * Whether the statement for which `valid` was last called may go on. Called when the engine answers: false
   * when the slot was lost, or when it ran out while this process stood still and may have written too late.
   */
  stillValid(): boolean;
  /** Calls `tell` once when the slot is no longer ours and what runs under it has to end. Disposing stops that. */
  whenLost(tell: () => void): Disposable;
}
