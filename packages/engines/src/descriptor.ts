/** What the catalog knows of an engine without loading its adapter: name, config, and where to load it from. */
import type { QueryAuthMode } from "@gateway/contract/config/queryAuth.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Result } from "@gateway/core/result.ts";
import type { ZodType } from "zod";

/** What an embedded database is filled with when it is opened. Engines that connect somewhere ignore it. */
export type Contents =
  | { readonly kind: "none" }
  /** The generated sample. */
  | { readonly kind: "sample" }
  /** Each Parquet, CSV or JSON file of a folder as a table. `folder` is absolute. */
  | { readonly kind: "folder"; readonly folder: string };

/** What an engine's adapter exports as `open`: `OpenBackend` of the port, with contents for an embedded database. */
export type OpenEngine<Config> = (
  cluster: string,
  config: Config,
  host: Host,
  contents?: Contents,
) => Promise<Result<Backend, GatewayError>>;

/**
 * How the fleet learns that the statement of a lost worker has ended: the engine lists what it runs, the
 * engine ends it by the limit it was sent with, it ended with the worker's process, or only the operator
 * knows.
 */
export type SlotsFreedBy = "listing" | "limit" | "process" | "hand";

export interface EngineDescriptor<Config> {
  /** The key in the config file. */
  readonly kind: string;
  readonly title: string;
  readonly config: ZodType<Config>;
  /** Identity modes it has. Any other pair of engine and mode is a config error. */
  readonly queryAuth: readonly QueryAuthMode[];
  /** As far as the config says it; whether a listing is whole is found out when the cluster is open. */
  slotsFreedBy(config: Config): SlotsFreedBy;
  /** Loads sockets or native code. Called only where a cluster is opened. */
  load(): Promise<{ readonly open: OpenEngine<Config> }>;
}

/** Ties a schema to the `open` that takes its output, so that a mismatch does not compile. */
export function engine<Config>(descriptor: EngineDescriptor<Config>): EngineDescriptor<Config> {
  return descriptor;
}
