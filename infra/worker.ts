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
  adminPort,
  drainSecs,
  frontendPorts,
  healthCommand,
  logRetention,
  relayPort,
  startCommand,
  variables,
  workerConfig,
  workerHealth,
} from "./gatewayConfig.ts";
import { fleetPlace } from "./network.ts";
import { fleetSecrets, workerSecrets } from "./secret.ts";
import { stage, surrounding } from "./stage.ts";

export interface Fleet {
  /** Where clients connect: name of the load balancer. */
  readonly address: $util.Output<string>;
  /** Security group of who may collect metrics of the workers; undefined under `sst dev`. */
  readonly scraper: $util.Output<string> | undefined;
}

/** Undefined where no workers are deployed. */
export const fleetOfStage: Fleet | undefined = $dev ? locally() : deployed();

function deployed(): Fleet | undefined {
  const { workers } = stage;
  if (workers === undefined) return undefined;
  const ports = Object.values(frontendPorts);
  const { cluster } = fleetPlace();
  const { door, fleet, scraper } = guards(ports);
  const worker = new sst.aws.Service("Worker", {
    cluster,
    image: surrounding("image"),
    architecture: "arm64",
    cpu: "2 vCPU",
    memory: "4 GB",
    entrypoint: startCommand,
    environment: {
      ...workerHealth,
      GATEWAY_CONFIG: controlUrl.apply((url) =>
        JSON.stringify(workerConfig(url, stage.adbcDrivers)),
      ),
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
  return { address: worker.nodes.loadBalancer.dnsName, scraper: scraper.id };
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
  // Nobody is in it: whoever collects metrics is put into it.
  const scraper = new aws.ec2.SecurityGroup("WorkerScraper", {
    description: "May collect metrics of the workers",
    vpcId,
    egress,
  });
  const fleet = new aws.ec2.SecurityGroup("WorkerFleet", {
    description: "Workers: clients through the balancer, relay among themselves, metrics",
    vpcId,
    ingress: [
      ...ports.map((port) => ({ ...tcp(port), securityGroups: [door.id] })),
      { ...tcp(relayPort), self: true },
      { ...tcp(adminPort), securityGroups: [scraper.id] },
    ],
    egress,
  });
  return { door, fleet, scraper };
}

function tcp(port: number) {
  return { protocol: "tcp", fromPort: port, toPort: port };
}

/** `sst dev`: one worker of this checkout, with `infra/devWorker.yaml`. */
function locally(): Fleet {
  new sst.x.DevCommand("Worker", {
    dev: {
      title: "worker",
      command: "node packages/gateway/bin/gateway.mjs start --config infra/devWorker.yaml",
      autostart: true,
    },
    environment: { [variables.fleetSecret]: fleetSecrets().value },
  });
  return { address: $output("127.0.0.1"), scraper: undefined };
}
