/** What the catalog knows of a frontend without loading its sockets: name, config, and where to load it from. */
import type { ZodType } from "zod";
import type { Carrier, ListenPolled } from "./listener/elsewhere.ts";

export interface FrontendDescriptor<Config> {
  /** The key in the config file. */
  readonly kind: string;
  readonly title: string;
  readonly config: ZodType<Config>;
  /** Loads sockets and protocol. Called only where the frontend is opened. */
  load(): Promise<{ readonly listen: ListenPolled<Config, Carrier> }>;
}

/** Ties a schema to the `listen` that takes its output, so that a mismatch does not compile. */
export function frontend<Config>(
  descriptor: FrontendDescriptor<Config>,
): FrontendDescriptor<Config> {
  return descriptor;
}
