/**
 * A fleet of workers behind one load balancer.
 *
 * Every listener is plain TCP: a service can not mix these with HTTP ones, and TLS has to end in the
 * worker anyway, because PostgreSQL and MySQL begin it inside their own protocol.
 */
import { controlUrl } from "./control.ts";
import { frontendPorts, healthCommand, startCommand, workerConfig } from "./gatewayConfig.ts";
import { cluster } from "./network.ts";
import { workerSecrets } from "./secret.ts";
import { image, stage } from "./stage.ts";

/** Name of the load balancer; undefined under `sst dev`, which runs no workers. */
export const workerAddress: $util.Output<string> | undefined = $dev ? undefined : deployed();

function deployed(): $util.Output<string> {
  const ports = Object.values(frontendPorts);
  const worker = new sst.aws.Service("Worker", {
    cluster,
    image: image(),
    architecture: "arm64",
    cpu: "2 vCPU",
    memory: "4 GB",
    entrypoint: startCommand,
    environment: {
      GATEWAY_CONFIG: controlUrl.apply((url) => JSON.stringify(workerConfig(url))),
    },
    ssm: workerSecrets(),
    health: { command: healthCommand, startPeriod: "20 seconds" },
    scaling: { ...stage.workers, cpuUtilization: 60, memoryUtilization: 70 },
    loadBalancer: {
      rules: ports.map((port) => ({ listen: `${port}/tcp` as const })),
      health: Object.fromEntries(
        ports.map((port) => [`${port}/tcp`, { interval: "10 seconds", healthyThreshold: 2 }]),
      ),
    },
  });
  return worker.nodes.loadBalancer.dnsName;
}
