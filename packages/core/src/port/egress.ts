/** Where the process may connect to on behalf of the configuration: asked with the address really connected to, so that no name can lead elsewhere. */
export interface Egress {
  /** True when a connection to this IP address is refused. Text that is no address is refused. */
  refuses(address: string): boolean;
  /** The same for a host in a URL or a config, when it is an address: sockets do not look such a host up. */
  refusesHost(host: string): boolean;
  /** How sockets look names up: refused addresses are left out, and none left is `EACCES`. Absent: as the system does. */
  readonly lookup?: EgressLookup;
}

/** Node's own form of a `lookup` for sockets. */
export type EgressLookup = (
  host: string,
  options: LookupOptions,
  callback: (error: Error | null, address: string | LookedUp[], family?: number) => void,
) => void;

/** What sockets ask of a lookup. */
export interface LookupOptions {
  readonly family?: number | "IPv4" | "IPv6" | undefined;
  readonly hints?: number | undefined;
  /** Every address is wanted, as a list. */
  readonly all?: boolean | undefined;
  /** One refused address refuses the whole name: for a library that looks the name up once more itself. */
  readonly whole?: boolean | undefined;
}

interface LookedUp {
  readonly address: string;
  readonly family: number;
}

/** Refuses nothing: for tests and for commands that open no cluster. */
export const anyEgress: Egress = { refuses: () => false, refusesHost: () => false };

/** What a connection to a refused address fails with. */
export function egressRefused(): Error & { readonly code: string } {
  return Object.assign(new Error("gateway.egress refuses the address"), { code: "EACCES" });
}
