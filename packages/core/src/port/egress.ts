/** Where the process may connect to on behalf of the configuration: asked with the address really connected to, so that no name can lead elsewhere. */
export interface Egress {
  /** True when a connection to this IP address is refused. Text that is no address is refused. */
  refuses(address: string): boolean;
}

/** Refuses nothing: for tests and for commands that open no cluster. */
export const anyEgress: Egress = { refuses: () => false };
