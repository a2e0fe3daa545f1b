/** What a tool has at hand: who calls, whom it may ask, and how long it may take. */
import type { Door } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { McpConfig } from "../config.ts";
import type { Handles } from "../page/handles.ts";
import type { Shelf } from "../run/shelf.ts";
import type { Caller } from "../session/session.ts";

/** The listener's own parts, the same for every call. */
export interface Served {
  readonly config: McpConfig;
  readonly door: Door;
  readonly host: Host;
  readonly shelf: Shelf;
  readonly handles: Handles;
}

/** How far a call is. */
export interface CallProgress {
  readonly elapsedMs: number;
  readonly text: string;
}

/** One call of a tool, or one look at a resource. */
export interface Call {
  readonly caller: Caller;
  /** Aborted when the agent left or cancelled. */
  readonly signal: AbortSignal;
  /** Tells the agent how far it is, where it asked for that. */
  readonly tell: (progress: CallProgress) => void;
}
