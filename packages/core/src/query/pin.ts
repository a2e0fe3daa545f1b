/**
 * A pinned session: one connection, one slot and one generation held from BEGIN to the end of the
 * transaction. Session values carry it; only the pipeline (run.ts, pinned.ts) opens and ends it.
 */
import type { GatewayError } from "../error.ts";
import type { Statement } from "../sql/statement.ts";

export interface Pin {
  readonly cluster: string;
  readonly group: string;
  /** By which number its server knows the connection now; undefined where it has none. */
  readonly process?: number | undefined;
  /**
   * `open`: statements run. `aborted`: a statement failed, and the client's dialect now refuses
   * everything but the end of the transaction. `ended`: committed, rolled back, idle or alive for too
   * long, or taken away; the next statement is told so, and the session is free again.
   */
  readonly state: "open" | "aborted" | "ended";
  /** Why it ended by itself, for the next statement; undefined where somebody ended it. */
  readonly endedBy?: GatewayError | undefined;
  /**
   * True where this statement ran here last, and may be sent again before the answer to it is here: it changes nothing of
   * the session, and once one fails the server refuses all behind it. Missing where nothing is sent ahead.
   */
  streams?(statement: Statement): boolean;
  /** Rolls back what is open and returns slot and connection. Idempotent. Called when the client leaves. */
  end(): Promise<void>;
}

/**
 * A connection that stays with its session between statements and transactions, with its slot: because of what the
 * session left on it, or because its cluster gives each session one. Session values carry it; only the pipeline
 * (kept.ts) opens it.
 */
export interface Kept {
  readonly cluster: string;
  readonly group: string;
  /** As a transaction's. */
  readonly process?: number | undefined;
  /** `ended`: what was on it is lost; the next statement is told so, and the session is free again. */
  readonly state: "open" | "ended";
  /** Hears what the server says of its own accord; what came before is told at once. One listener. */
  hear(listener: KeptListener): void;
  /** Cleans the connection and returns it with its slot. Idempotent. Called when the client leaves. */
  end(): Promise<void>;
}

/** What a server says to a session that nobody asked for. */
export interface KeptListener {
  /**
   * A whole message of the client's own protocol. What it returns is waited for before the next is told. One that the
   * session sent to itself names process 0: by which number its client knows itself is the frontend's.
   */
  message(bytes: Uint8Array): Promise<void> | undefined;
  /** The server's value of a setting that it reports. */
  status(name: string, value: string): void;
  /** The connection ended by itself, or was taken away; `why` as the server said it. */
  over(why?: GatewayError): void;
}
