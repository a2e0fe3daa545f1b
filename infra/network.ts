/**
 * Where containers run: a network of two zones, and the cluster of all services. Made when the first
 * of them asks: a control plane of functions needs none of it.
 */

export interface FleetPlace {
  readonly network: sst.aws.Vpc;
  readonly cluster: sst.aws.Cluster;
  /** Addresses of the network, and so of its load balancers. */
  readonly range: $util.Output<string>;
}

let made: FleetPlace | undefined;

export function fleetPlace(): FleetPlace {
  if (made === undefined) {
    const network = new sst.aws.Vpc("Network", { az: 2 });
    const cluster = new sst.aws.Cluster("Fleet", { vpc: network });
    made = { network, cluster, range: network.nodes.vpc.cidrBlock };
  }
  return made;
}
