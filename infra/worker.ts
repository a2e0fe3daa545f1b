/**
 * A fleet of workers behind one load balancer, where the stage has one.
 *
 * Every listener is plain TCP: a service can not mix these with HTTP ones, and TLS has to end in the
 * worker anyway, because PostgreSQL and MySQL begin it inside their own protocol. The balancer says in
 * front of each connection who the client is (PROXY protocol), so nobody else may reach those ports.
 */
import { alarmOfContainers } from "./alarms.ts";
import { controlUrl } from "./control.ts";
import {
  drainSecs,
  frontendPorts,
  healthCommand,
  logRetention,
  relayPort,
  startCommand,
  variables,
  workerConfig,
} from "./gatewayConfig.ts";
import { fleetPlace } from "./network.ts";
import { fleetSecrets, workerSecrets } from "./secret.ts";
import { stage, surrounding } from "./stage.ts";

/** Where clients connect: name of the load balancer; undefined where no workers are deployed. */
export const workerAddress: $util.Output<string> | undefined = $dev ? locally() : deployed();

function deployed(): $util.Output<string> | undefined {
  const { workers } = stage;
  if (workers === undefined) return undefined;
  const ports = Object.values(frontendPorts);
  const { cluster } = fleetPlace();
  const { door, fleet } = guards(ports);
  const worker = new sst.aws.Service("Worker", {
    cluster,
    image: surrounding("image"),
    architecture: "arm64",
    cpu: "2 vCPU",
    memory: "4 GB",
    entrypoint: startCommand,
    environment: {
      GATEWAY_CONFIG: controlUrl.apply((url) => JSON.stringify(workerConfig(url))),
    },
    ssm: workerSecrets(),
    health: { command: healthCommand, startPeriod: "20 seconds" },
    logging: { retention: logRetention },
    scaling: { ...workers, cpuUtilization: 60, memoryUtilization: 70 },
    loadBalancer: {
      rules: ports.map((port) => ({ listen: `${port}/tcp` as const })),
      health: Object.fromEntries(
        ports.map((port) => [`${port}/tcp`, { interval: "10 seconds", healthyThreshold: 2 }]),
      ),
    },
    transform: {
      loadBalancer: { securityGroups: [door.id] },
      // A worker that was told to stop is gone after its drain; waiting longer holds up a deployment.
      target: { proxyProtocolV2: true, deregistrationDelay: drainSecs },
      service: (service) => {
        service.enableExecuteCommand = false;
        service.networkConfiguration = $util
          .output(service.networkConfiguration)
          .apply((network) => ({
            assignPublicIp: network?.assignPublicIp ?? false,
            subnets: network?.subnets ?? [],
            securityGroups: [fleet.id],
          }));
        return undefined;
      },
    },
  });
  alarmOfContainers("Worker", cluster, worker, workers.min);
  return worker.nodes.loadBalancer.dnsName;
}

/** What may reach the balancer, and what the workers. */
function guards(ports: readonly number[]) {
  const { network } = fleetPlace();
  const vpcId = network.id;
  const everywhere = ["0.0.0.0/0"];
  const egress = [{ protocol: "-1", fromPort: 0, toPort: 0, cidrBlocks: everywhere }];
  const door = new aws.ec2.SecurityGroup("WorkerDoor", {
    description: "Clients of the workers, at the balancer",
    vpcId,
    ingress: ports.map((port) => ({ ...tcp(port), cidrBlocks: everywhere })),
    egress,
  });
  const fleet = new aws.ec2.SecurityGroup("WorkerFleet", {
    description: "Workers: clients through the balancer, relay among themselves",
    vpcId,
    ingress: [
      ...ports.map((port) => ({ ...tcp(port), securityGroups: [door.id] })),
      { ...tcp(relayPort), self: true },
    ],
    egress,
  });
  return { door, fleet };
}

function tcp(port: number) {
  return { protocol: "tcp", fromPort: port, toPort: port };
}

/** `sst dev`: one worker of this checkout, with `infra/devWorker.yaml`. */
function locally(): $util.Output<string> {
  new sst.x.DevCommand("Worker", {
    dev: {
      title: "worker",
      command: "node packages/gateway/bin/gateway.mjs start --config infra/devWorker.yaml",
      autostart: true,
    },
    environment: { [variables.fleetSecret]: fleetSecrets().value },
  });
  return $output("127.0.0.1");
}
