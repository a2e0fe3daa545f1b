/** Where the process may connect to on behalf of its configuration, by IP address. */
import { lookup as systemLookup } from "node:dns";
import { BlockList, isIP } from "node:net";
import { egressRefused, type Egress, type EgressLookup } from "@gateway/core/port/egress.ts";

/** Networks as `10.0.0.0/8`, or single addresses. */
export interface EgressLimits {
  /** Not empty: nothing else may be connected to. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export const noEgressLimits: EgressLimits = { allow: [], deny: [] };

/** Link-local addresses, at which clouds hand out the machine's own credentials, and other addresses that do the same. */
const deniedUnlessAllowed = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254", "100.100.100.200"];

/** What is in `deny` is refused always; link-local and metadata addresses unless `allow` names them. */
export function egressOf({ allow, deny }: EgressLimits): Egress {
  const allowed = networksOf(allow);
  const denied = networksOf(deny);
  const metadata = networksOf(deniedUnlessAllowed);
  return egressBy((shown) => {
    const address = unmapped(shown);
    const family = familyOf(address);
    if (family === undefined || denied.check(address, family)) return true;
    if (allow.length > 0) return !allowed.check(address, family);
    return metadata.check(address, family);
  });
}

/** An egress from the one question which addresses are refused. `look`: how the system looks names up. */
export function egressBy(refuses: Egress["refuses"], look: EgressLookup = systemLookup): Egress {
  return {
    refuses,
    refusesHost: (host) => {
      const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
      return isIP(bare) !== 0 && refuses(bare);
    },
    lookup: lookupPast(refuses, look),
  };
}

/** The connection uses the address that was checked: looked up twice, a name could answer differently the second time. */
function lookupPast(refuses: Egress["refuses"], look: EgressLookup): EgressLookup {
  return (host, { whole = false, ...options }, callback) => {
    look(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null || typeof addresses === "string") return callback(error, []);
      const open = addresses.filter(({ address }) => !refuses(address));
      const [first] = open;
      const refused = whole && open.length < addresses.length;
      if (first === undefined || refused) return callback(egressRefused(), []);
      if (options.all === true) return callback(null, open);
      return callback(null, first.address, first.family);
    });
  };
}

/** True for an address or `address/bits`. */
export function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function networksOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = familyOf(address);
    if (family === undefined) throw new TypeError(`not a network: ${network}`);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** An IPv4 address written as IPv6 reaches the same machine. */
function unmapped(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? "ipv4" : "ipv6";
}
