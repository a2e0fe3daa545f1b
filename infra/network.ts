/** Where containers run: a network of two zones, and the cluster of all services. */

export const network = new sst.aws.Vpc("Network", { az: 2 });

export const cluster = new sst.aws.Cluster("Fleet", { vpc: network });

/** Addresses of the network, and so of its load balancers. */
export const networkRange = network.nodes.vpc.cidrBlock;
