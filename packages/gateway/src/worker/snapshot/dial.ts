/**
 * The worker's link to its control plane: configuration and presence over one transport. Joins the
 * parts and decides nothing: what is asked when is controlSource.ts and presence.ts.
 */
import type { Revision } from "@gateway/contract/revision.ts";
import type { SourceEvent } from "@gateway/core/port/configSource.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { offerOfHead } from "@gateway/core/snapshot/lifecycle.ts";
import { askControlPlane } from "./controlSource.ts";
import { fleetCalls, type FleetCalls } from "./fleetCalls.ts";
import type { Wake } from "./pause.ts";
import { presenceOf, type Presence, type PresenceParts } from "./presence.ts";
import type { Transport } from "./transport.ts";
import { headKeysOf, type HeadKeys, type VerifiedSnapshot } from "../verify.ts";

export interface LinkConfig {
  /** Config: `controlPlane.url`. */
  readonly url: string;
  readonly allowInsecureHttp: boolean;
  /** Current, then previous. */
  readonly secrets: readonly [Secret, ...Secret[]];
  readonly pollTimeoutSecs: number;
}

export interface LinkParts {
  readonly host: Pick<Host, "clock" | "log" | "random" | "randomBytes">;
  readonly transport: Transport;
  readonly presence: Omit<PresenceParts, "host" | "calls" | "keys" | "headSeen">;
  /** See `ControlSourceParts.known`. */
  known(): Revision | undefined;
  push(event: SourceEvent<VerifiedSnapshot>): void;
}

export interface Link {
  readonly calls: FleetCalls;
  readonly keys: HeadKeys;
  readonly presence: Presence;
  /** Asks, registers and beats until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Why a control plane's URL is not used; undefined when it is. */
export function urlFault(url: string, allowInsecureHttp: boolean): string | undefined {
  if (!URL.canParse(url)) return "is no URL";
  const { protocol, username, password, search, hash } = new URL(url);
  // The URL is shown in logs and status; what is in it is no secret any more.
  if (username !== "" || password !== "") return "must not hold credentials";
  if (search !== "" || hash !== "") return "must not have a query or a fragment";
  if (protocol === "https:") return undefined;
  if (protocol !== "http:") return "must be an https URL";
  return allowInsecureHttp
    ? undefined
    : "must be https: the fleet secret and cluster credentials would cross in clear text (allowInsecureHttp is for local demos only)";
}

/** Makes the link. Nothing is sent before `run`. */
export function dialControlPlane(config: LinkConfig, parts: LinkParts): Result<Link, string> {
  const fault = urlFault(config.url, config.allowInsecureHttp);
  if (fault !== undefined) return err(fault);
  const { host, transport } = parts;
  const url = config.url.replace(/\/+$/, "");
  const calls = fleetCalls({ host, transport, url, secrets: config.secrets });
  const keys = headKeysOf(config.secrets);
  let paused: Wake | undefined;
  const presence = presenceOf({
    ...parts.presence,
    host,
    calls,
    keys,
    headSeen: (head) => {
      const offer = offerOfHead("controlPlane", head);
      parts.push({ kind: "offer", offer, head, body: undefined });
      // A heartbeat was answered, so there is no reason to wait any longer for what is missing here.
      if (parts.known()?.hash !== head.revision) paused?.wake();
      paused = undefined;
    },
  });
  const source = {
    host,
    calls,
    keys,
    pollTimeoutSecs: config.pollTimeoutSecs,
    known: () => parts.known(),
    push: (event: SourceEvent<VerifiedSnapshot>) => parts.push(event),
    paused: (pause: Wake) => {
      paused = pause;
    },
  };
  return ok({
    calls,
    keys,
    presence,
    run: async (signal) => {
      await Promise.all([askControlPlane(source, signal), presence.run(signal)]);
    },
  });
}
