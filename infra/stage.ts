/**
 * What differs between stages, and nothing else. A stage that is not listed is the default one.
 *
 * `control` alone decides where the control plane runs; handlers and database are the same.
 */
import type { ControlHost, Limits } from "./gatewayConfig.ts";

export interface Stage {
  /**
   * `functions` scale to nothing and suit a few dozen workers: each held `wait` is one running
   * function, day and night. `container` is for more than that.
   */
  readonly control: ControlHost;
  /** Most functions that run at once; the database must take as many requests. */
  readonly functionsMax: number;
  /** Name under which the load balancer ends TLS. A container needs one; a function has its own URL. */
  readonly domain: string | undefined;
  readonly containers: Limits;
  readonly workers: Limits;
}

const common: Stage = {
  control: "functions",
  functionsMax: 100,
  domain: undefined,
  containers: { min: 2, max: 4 },
  workers: { min: 2, max: 10 },
};

const stages: Readonly<Record<string, Partial<Stage>>> = {
  production: { workers: { min: 3, max: 30 } },
};

export const stage: Stage = { ...common, ...stages[$app.stage] };

/**
 * The gateway's image in a registry, as the release made it. Asked for only by what runs in a
 * container, so that a control plane of functions can be deployed without one.
 */
export function image(): string {
  const reference = process.env["GATEWAY_IMAGE"];
  if (reference === undefined || reference === "") {
    throw new Error("Set GATEWAY_IMAGE to the gateway's image, with its digest");
  }
  return reference;
}
