/** What the catalog knows of an engine without loading its native code: config, identity modes, and where to load it from. */
import type { QueryAuthMode } from "@gateway/contract/config/cluster.ts";
import type { OpenBackend } from "@gateway/core/port/backend.ts";
import type { ZodType } from "zod";

export interface EngineDescriptor<Schema extends ZodType, Config> {
  /** The value of `clusters.<c>.engine`. */
  readonly kind: string;
  readonly title: string;
  readonly config: Schema;
  /** Identity modes the engine has. */
  readonly queryAuth: readonly QueryAuthMode[];
  /** Loads sockets and native code. Called only where a cluster is opened. */
  load(): Promise<{ readonly open: OpenBackend<Config> }>;
}

/** Ties a schema to the `open` that takes its output, so that a mismatch does not compile. */
export function engine<Schema extends ZodType>(
  descriptor: EngineDescriptor<Schema, Schema["_zod"]["output"]>,
): EngineDescriptor<Schema, Schema["_zod"]["output"]> {
  return descriptor;
}
