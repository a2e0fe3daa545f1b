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
import { urlFault } from "../../config/addresses.ts";
import { askControlPlane, type Known } from "./controlSource.ts";
import { fleetCalls, type FleetCalls } from "../link/fleetCalls.ts";
import type { Wake } from "@gateway/core/tool/pause.ts";
import { presenceOf, type Presence, type PresenceParts } from "../link/presence.ts";
import type { Transport } from "../link/transport.ts";
import { headKeysOf, verifyHead, type VerifiedSnapshot } from "./verify.ts";

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
  readonly presence: Omit<PresenceParts, "host" | "calls" | "readHead" | "headSeen">;
  /** See `ControlSourceParts`. */
  known(): Revision | undefined;
  active?(): Known | undefined;
  push(event: SourceEvent<VerifiedSnapshot>): void;
}

export interface Link {
  readonly calls: FleetCalls;
  readonly presence: Presence;
  /** Asks, registers and beats until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
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
    readHead: (value) => {
      const head = verifyHead(value, keys);
      return head.ok ? head.value : undefined;
    },
    headSeen: (head) => {
      const offer = offerOfHead("controlPlane", head);
      parts.push({ kind: "offer", offer, head, body: undefined });
      // The control plane answers again, so what is missing here is asked for at once.
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
    active: () => parts.active?.(),
    push: (event: SourceEvent<VerifiedSnapshot>) => parts.push(event),
    paused: (pause: Wake) => {
      paused = pause;
    },
  };
  return ok({
    calls,
    presence,
    run: async (signal) => {
      await Promise.all([askControlPlane(source, signal), presence.run(signal)]);
    },
  });
}
