/**
 * The relay of a process: requests about queries of other gateways go to them, and theirs about ours come
 * here. Any gateway behind one balancer answers any poll, without sticky sessions or a shared store.
 */
import { isIP } from "node:net";
import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type { Carrier, PolledFrontend } from "@gateway/frontends/listener/elsewhere.ts";
import { plainSecrets } from "../config/secrets.ts";
import type { RelayConfig } from "../config/control.ts";
import type { GatewayConfig } from "../config/schema.ts";
import { marksOf } from "./marks.ts";
import { relayFamilies } from "./metrics.ts";
import { senderOf } from "./send.ts";
import { listenRelay, type OpenRelayListener } from "./serve.ts";

export interface OpenRelay {
  readonly elsewhere: Carrier;
  readonly listener: { readonly host: string; readonly port: number };
  serve(frontends: readonly PolledFrontend[]): void;
  close(): Promise<void>;
}

/** Opens the listener, where the config has one. */
export async function openRelay(
  gateway: GatewayConfig,
  host: Pick<Host, "clock" | "metrics" | "randomBytes">,
): Promise<Result<OpenRelay | undefined, ListenError>> {
  const config = gateway.relay;
  const [secret, ...older] = fleetSecretsOf(gateway);
  // The rules of the config ask for a secret.
  if (config === undefined || secret === undefined) return ok(undefined);
  const opened = await listenRelay(config, [secret, ...older], host);
  if (!opened.ok) return opened;
  return ok(relayOf(config, [secret, ...older], opened.value, host));
}

/** The secret of the fleet that this process belongs to, as its role has it; none where it is alone. */
export function fleetSecretsOf({
  controlPlane,
  workerApi,
}: Pick<GatewayConfig, "controlPlane" | "workerApi">): readonly Secret[] {
  const secret = controlPlane?.auth.sharedSecret ?? workerApi?.sharedSecret;
  return secret === undefined ? [] : plainSecrets(secret);
}

function relayOf(
  config: RelayConfig,
  secrets: readonly [Secret, ...Secret[]],
  listener: OpenRelayListener,
  host: Pick<Host, "clock" | "metrics" | "randomBytes">,
): OpenRelay {
  const marks = marksOf(secrets, host);
  const sender = senderOf(secrets);
  const address = advertised(config, listener.port);
  const { metrics } = host;
  const answered = metrics.counter(relayFamilies.relayed, { result: "answered" });
  const unreached = metrics.counter(relayFamilies.relayed, { result: "unreached" });
  return {
    elsewhere: {
      mark: (instance) => marks.make(instance, address),
      relay: async (mark, frontend, asked) => {
        const owner = marks.addressIn(mark);
        if (owner === undefined) return false;
        const sent = await sender.send(owner, frontend, asked);
        (sent ? answered : unreached).add(1);
        return sent;
      },
      carry: async (mark, frontend, call) => {
        const owner = marks.addressIn(mark);
        if (owner === undefined) return undefined;
        const answer = await sender.carry(owner, frontend, call);
        (answer === undefined ? unreached : answered).add(1);
        return answer;
      },
    },
    listener: { host: config.host, port: listener.port },
    serve: (frontends) => listener.serve(frontends),
    close: async () => {
      await listener.close();
      sender.close();
    },
  };
}

/** `host:port` where the fleet reaches this process: as the config says, else its first address off loopback. */
function advertised({ advertise, host }: RelayConfig, port: number): string {
  if (advertise !== undefined) {
    return /:\d+$/.test(advertise) && isIP(advertise) === 0 ? advertise : joined(advertise, port);
  }
  const everywhere = host === "0.0.0.0" || host === "::";
  return joined(everywhere ? (ownAddress(host === "::") ?? "127.0.0.1") : host, port);
}

function ownAddress(mayBeSix: boolean): string | undefined {
  return reachableAddress(Object.values(networkInterfaces()).flat(), mayBeSix);
}

/**
 * The first address that another machine can reach. Not a link-local one: in a container of ECS the first
 * interface has such an address, at which only the platform answers.
 */
export function reachableAddress(
  interfaces: readonly (NetworkInterfaceInfo | undefined)[],
  mayBeSix: boolean,
): string | undefined {
  const all = interfaces.filter(
    (one) => one !== undefined && !one.internal && !/^(?:fe80:|169\.254\.)/.test(one.address),
  );
  const four = all.find((one) => one?.family === "IPv4");
  return (four ?? (mayBeSix ? all[0] : undefined))?.address;
}

function joined(host: string, port: number): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]:${port}` : `${host}:${port}`;
}
