/**
 * Names to addresses, past the process's limits on outgoing connections.
 *
 * The answer that is checked is the one that is connected to: looking a name up twice would let it
 * answer differently the second time.
 */
import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Egress } from "@gateway/core/port/egress.ts";

/** A `lookup` for sockets that leaves out refused addresses; none left is `EACCES`. */
export function guardedLookup(egress: Egress): LookupFunction {
  return (hostname, options, callback) => {
    systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const open = addresses.filter(({ address }) => !egress.refuses(address));
      const [first] = open;
      if (first === undefined) return callback(refused(), []);
      if (options.all === true) return callback(null, open);
      return callback(null, first.address, first.family);
    });
  };
}

/** True for an address in digits that may not be connected to: sockets look no such name up. */
export function refusesHost(egress: Egress, host: string): boolean {
  const bare = bareHost(host);
  return isIP(bare) !== 0 && egress.refuses(bare);
}

/** A host of a URL as sockets want it: an IPv6 address without its brackets. */
export function bareHost(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

/** What a connection to a refused address fails with. */
export function refused(): NodeJS.ErrnoException {
  return Object.assign(new Error("gateway.egress refuses the address"), { code: "EACCES" });
}
