/** The history policy of the active configuration, and what the worker's own file says otherwise. */
import type { HistorySetting } from "@gateway/control/config/objects.ts";
import type { Redaction } from "@gateway/core/record/redact.ts";
import { plainSecret } from "../../config/secrets.ts";
import type { WorkerHistoryConfig } from "../../config/workerKeys.ts";
import type { HistoryEndpoint } from "./uplink.ts";

export interface HistoryPolicy {
  /** What the configuration that became active says; undefined where it says nothing. */
  take(setting: HistorySetting | undefined): void;
  /** Before any configuration nothing is known to be allowed: `metadata`. */
  redaction(): Redaction;
  /** Undefined means the control plane. */
  endpoint(): HistoryEndpoint | undefined;
}

export function historyPolicy(own: WorkerHistoryConfig): HistoryPolicy {
  let redaction: Redaction = "metadata";
  let shared: HistoryEndpoint | undefined;
  return {
    take: (setting) => {
      redaction = setting?.redaction ?? "full";
      shared = endpointOf(setting?.endpoint, setting?.auth?.bearer);
    },
    redaction: () => redaction,
    endpoint: () => (own.endpoint === undefined ? shared : endpointOf(own.endpoint, own.bearer)),
  };
}

function endpointOf(
  url: string | null | undefined,
  bearer: WorkerHistoryConfig["bearer"],
): HistoryEndpoint | undefined {
  if (url === null || url === undefined) return undefined;
  return { url, bearer: bearer === undefined ? undefined : plainSecret(bearer) };
}
