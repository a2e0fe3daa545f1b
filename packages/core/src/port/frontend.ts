/** A frontend is one client protocol we speak as a server. */
import type { Door } from "./door.ts";
import type { Result } from "../result.ts";
import type { Host } from "./host.ts";

/** A listener that is open. */
export interface Frontend {
  /** The key in the config: `trinoHttp`, `postgresWire`, `mysqlWire`, `clickhouseHttp`. */
  readonly kind: string;
  readonly host: string;
  /** The port really bound (a configured 0 picks a free one). */
  readonly port: number;
  readonly tls: boolean;
  /**
   * Stops accepting, closes idle connections, lets running queries finish until `deadline` is
   * aborted, then closes the rest. Resolves when every connection is gone. Idempotent.
   */
  drain(deadline: AbortSignal): Promise<void>;
}

/** Why a listener could not be opened; the process then ends with exit code 2. */
export interface ListenError {
  readonly kind: string;
  readonly reason: "portInUse" | "addressUnavailable" | "portForbidden" | "certificate";
  /** For the operator: the address or the file, and what the system said. */
  readonly detail: string;
}

/** What a frontend's `listen.ts` exports as `listen`. */
export type Listen<Config> = (
  config: Config,
  door: Door,
  host: Host,
) => Promise<Result<Frontend, ListenError>>;
