/**
 * The stage that is deployed, with its defaults. `stages.ts` says what differs.
 *
 * `control` alone decides where the control plane runs; handlers and database are the same.
 */
import type { ControlHost, Limits } from "./gatewayConfig.ts";
import { stages } from "./stages.ts";

export interface Stage {
  /**
   * `functions` scale to nothing and suit a few dozen workers: each held `wait` is one running
   * function, day and night. `container` is for more than that.
   */
  readonly control: ControlHost;
  /** Most functions that run at once; the database must take as many requests. */
  readonly functionsMax: number;
  readonly containers: Limits;
  /** Whether functions have the console as a site of its own beside them. A container serves it in any case. */
  readonly studio: boolean;
  /** Undefined: workers run elsewhere, or not at all. */
  readonly workers: Limits | undefined;
  /**
   * Secrets that clusters and logins refer to as `env:GATEWAY_SECRET_…`: what the variable is called,
   * by the name of the secret in SST. Example: `{ TrinoPassword: "GATEWAY_SECRET_TRINO" }`
   */
  readonly secrets: Readonly<Record<string, string>>;
  /** `gateway.retention` of a control plane of any kind; what is absent has the gateway's default. */
  readonly retention: Readonly<Record<string, number>>;
  /**
   * ADBC drivers that the image of `GATEWAY_IMAGE` was built with (`--build-arg ADBC_DRIVERS=…`). A container without
   * one of them does not start, and a cluster with another driver is refused. Undefined: nobody looks beforehand.
   */
  readonly adbcDrivers: readonly string[] | undefined;
  /** Who is told of alarms; nobody when undefined, the topic is there all the same. */
  readonly alarmEmail: string | undefined;
}

export type StageSettings = Partial<Stage>;

const common: Stage = {
  control: "functions",
  functionsMax: 100,
  containers: { min: 2, max: 4 },
  studio: true,
  workers: undefined,
  secrets: {},
  retention: {},
  adbcDrivers: undefined,
  alarmEmail: undefined,
};

export const stage: Stage = { ...common, ...stages[$app.stage] };

/** What only a stage with containers needs, from the environment of whoever deploys. */
export const surroundings = {
  /** The gateway's image in a registry, as the release made it. */
  image: "GATEWAY_IMAGE",
  /** Name under which the load balancer ends TLS. A container needs one; a function has its own URL. */
  domain: "GATEWAY_DOMAIN",
} as const;

/** Asked for by what runs in a container. Throws where it is missing; `required.ts` has looked before. */
export function surrounding(what: keyof typeof surroundings): string {
  const value = process.env[surroundings[what]];
  if (value === undefined || value === "") throw new Error(`${surroundings[what]} is not set`);
  return value;
}
