/**
 * What differs between stages, and nothing else: the one file of the deployment that is yours to edit.
 * A stage that is not listed is a control plane of functions without workers, which needs no image.
 */
import type { StageSettings } from "./stage.ts";

export const stages: Readonly<Record<string, StageSettings>> = {
  /** Functions, and workers of our own. */
  production: { workers: { min: 3, max: 30 } },
  /** For more than a few dozen workers. Its name on the network comes from GATEWAY_DOMAIN. */
  large: { control: "container", workers: { min: 6, max: 100 } },
};
