/**
 * A pinned session: one connection, one slot and one generation held from BEGIN to the end of the
 * transaction. Session values carry it; only the pipeline (run.ts, pinned.ts) opens and ends it.
 */
import type { GatewayError } from "../error.ts";

export interface Pin {
  readonly cluster: string;
  readonly group: string;
  /**
   * `open`: statements run. `aborted`: a statement failed, and the client's dialect now refuses
   * everything but the end of the transaction. `ended`: committed, rolled back, idle or alive for too
   * long, or taken away; the next statement is told so, and the session is free again.
   */
  readonly state: "open" | "aborted" | "ended";
  /** Why it ended by itself, for the next statement; undefined where somebody ended it. */
  readonly endedBy?: GatewayError | undefined;
  /** Rolls back what is open and returns slot and connection. Idempotent. Called when the client leaves. */
  end(): Promise<void>;
}
