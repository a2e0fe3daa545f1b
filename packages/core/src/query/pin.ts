/**
 * A pinned session: one connection, one slot and one generation held from BEGIN to the end of the
 * transaction. Session values carry it; only the pipeline (run.ts, pinned.ts) opens and ends it.
 */
import type { GatewayError } from "../error.ts";

export interface Pin {
  readonly cluster: string;
  readonly group: string;
  /**
   * `open`: statements run. `aborted`: a statement failed where the client's dialect then refuses
   * everything but the end of the transaction. `ended`: committed, rolled back, idle or alive for too
   * long, or taken away; the next statement is told and the session is free again.
   */
  readonly state: "open" | "aborted" | "ended";
  /** What the next statement is told once it ended by itself; undefined where somebody ended it. */
  readonly endedBy?: GatewayError | undefined;
  /** Rolls back what is open and gives slot and connection back. Idempotent. Called when the client leaves. */
  end(): Promise<void>;
}
