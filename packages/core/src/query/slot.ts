/**
 * The right to run. A slot stands for one running query on one cluster and is held in every scope
 * that has a cap: the cluster, and the cluster within the group.
 */

/** Disposing gives the slot back, once; it never rejects. */
export interface Slot extends AsyncDisposable {
  readonly cluster: string;
  /** Grows with every grant of the same place, so that a late release of an old holder is seen. */
  readonly fence: number;
  /** `<instance>/<lease>`: whose it is, as the tags of statements say it. Letters, digits, `-` and `_`. */
  readonly holder: string;
  /** Set where the slot is leased from others, who may take it away. */
  readonly lease?: SlotLease;
}

/** What is between a slot and whoever leased it to this process. */
export interface SlotLease {
  /** Longest time limit that a statement may be sent to the engine with; undefined means none was agreed on. Milliseconds. */
  readonly maxExecutionMs: number | undefined;
  /** Whether a statement may be sent under the slot at this moment. Asked right before its bytes are written. */
  valid(): boolean;
  /**
   * Set while it is being asked whether a slot is still ours that is not valid at the moment: this process
   * stood still. `valid` knows once it resolves, which takes some seconds at most; it never rejects.
   */
  doubt(): Promise<void> | undefined;
  /**
   * Whether the statement for which `valid` was asked last may go on. Asked when the engine answers: false
   * when the slot was lost, or ran out while this process stood still and may have written too late.
   */
  stillValid(): boolean;
  /** Calls `tell` once when the slot is not ours any more: what runs under it is to be ended. Disposing stops that. */
  whenLost(tell: () => void): Disposable;
}
