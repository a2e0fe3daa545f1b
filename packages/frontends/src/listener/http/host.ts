/**
 * What an HTTP listener believes of a request's headers: whether the request was meant for this host and page,
 * and which address and scheme of its client a balancer may name. Pure functions.
 */
import { BlockList, isIP } from "node:net";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { plainAddress } from "../tls.ts";

type HostConfig = Pick<ListenerConfig, "externalUrl" | "allowedHosts">;

/**
 * What a request's target asks for, of whatever host. Not resolved against a base: of a path that begins with two
 * slashes that makes a host, or nothing at all.
 */
export function targetOf(target = "/"): URL | undefined {
  const text = target.startsWith("/") ? `http://localhost${target}` : target;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * True when `Host` names an address, `localhost`, the host of `externalUrl` or one of `allowedHosts`
 * (with or without a port). That refuses a page under another name that resolves to this machine (DNS
 * rebinding).
 */
export function hostAllowed(host: string | undefined, config: HostConfig): boolean {
  const name = hostName(host);
  if (name === undefined) return false;
  if (name === "localhost" || isIP(name) !== 0) return true;
  return namesOf(config).has(name);
}

/**
 * True when the request comes from no web page, or from a page of a host that `Host` may name and
 * that is the same as this request's.
 */
export function originAllowed(
  origin: string | undefined,
  host: string | undefined,
  config: HostConfig,
): boolean {
  if (origin === undefined) return true;
  const page = URL.canParse(origin) ? new URL(origin) : undefined;
  // `null` is the origin of sandboxed pages and of files: we do not know who that is.
  if (page === undefined || (page.protocol !== "http:" && page.protocol !== "https:")) return false;
  const name = hostName(page.host);
  if (name === undefined) return false;
  return (
    namesOf(config).has(name) || (page.host === host?.toLowerCase() && hostAllowed(host, config))
  );
}

function namesOf(config: HostConfig): ReadonlySet<string> {
  const names = config.allowedHosts.map(hostName);
  if (config.externalUrl !== undefined) names.push(hostName(new URL(config.externalUrl).host));
  return new Set(names.filter((name) => name !== undefined));
}

/** The name or address without port and brackets, in lower case; undefined when it is none. */
function hostName(host: string | undefined): string | undefined {
  if (host === undefined) return undefined;
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/.exec(
    host.trim().toLowerCase(),
  );
  const name = match?.[1] ?? match?.[2];
  if (name === undefined) return undefined;
  if (match?.[1] !== undefined && isIP(name) !== 6) return undefined;
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

/** Address and scheme of the client, as far as we believe them. */
export interface Forwarded {
  readonly address: string;
  readonly secure: boolean;
}

/** Ranges of proxies that we believe. Make it once per listener with `trustedRanges`. */
export interface TrustedRanges {
  has(address: string): boolean;
}

/** Compiles `trustedProxies`. An entry that is neither an address nor a range trusts nobody. */
export function trustedRanges(entries: readonly string[]): TrustedRanges {
  // An address is made for each question to the list, and most listeners trust nobody.
  if (entries.length === 0) return { has: () => false };
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix, ...more] = entry.split("/");
    const version = isIP(address);
    const bits = prefix === undefined ? (version === 4 ? 32 : 128) : bitsOf(prefix);
    if (version === 0 || more.length > 0 || bits > (version === 4 ? 32 : 128)) continue;
    list.addSubnet(address, bits, version === 4 ? "ipv4" : "ipv6");
  }
  return {
    has: (address) => {
      const plain = plainAddress(address);
      const version = isIP(plain);
      return version !== 0 && list.check(plain, version === 4 ? "ipv4" : "ipv6");
    },
  };
}

function bitsOf(prefix: string): number {
  return /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.POSITIVE_INFINITY;
}

/**
 * Reads `X-Forwarded-For` from its end: each trusted proxy names the one before it, and the first address that
 * is not trusted is the client. Whatever a client wrote itself stands further left and is never reached.
 * `X-Forwarded-Proto` counts only from a trusted peer.
 */
export function forwardedClient(
  peer: Forwarded,
  headers: {
    readonly "x-forwarded-for"?: string | readonly string[] | undefined;
    readonly "x-forwarded-proto"?: string | readonly string[] | undefined;
  },
  trusted: TrustedRanges,
): Forwarded {
  if (!trusted.has(peer.address)) return peer;
  const schemes = listOf(headers["x-forwarded-proto"]);
  const secure = peer.secure || schemes.at(-1)?.toLowerCase() === "https";
  let { address } = peer;
  for (const entry of listOf(headers["x-forwarded-for"]).toReversed()) {
    const next = addressOf(entry);
    if (next === undefined) break;
    address = next;
    if (!trusted.has(address)) break;
  }
  return { address, secure };
}

function listOf(header: string | readonly string[] | undefined): readonly string[] {
  if (header === undefined) return [];
  const text = typeof header === "string" ? header : header.join(",");
  return text.split(",").map((part) => part.trim());
}

/** An address, also with the port that some balancers add. */
function addressOf(entry: string): string | undefined {
  if (isIP(entry) !== 0) return plainAddress(entry);
  const match = /^(?:\[([0-9a-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i.exec(entry);
  const address = match?.[1] ?? match?.[2];
  return address !== undefined && isIP(address) !== 0 ? plainAddress(address) : undefined;
}
