/**
 * The control plane: functions or a container, by one value of the stage. The handlers are the same.
 *
 * `sst dev` runs it on this machine with an embedded database instead, and deploys neither.
 */
import { alarmOfContainers, alarmsOfCounts, alarmsOfFunction, alarmOfSilence } from "./alarms.ts";
import { functionBundle } from "./bundle.ts";
import { migrated } from "./database.ts";
import {
  adminPort,
  controlPlaneConfig,
  functionTimeoutSecs,
  healthCommand,
  logRetention,
  startCommand,
  upkeepTimeoutMinutes,
  variables,
} from "./gatewayConfig.ts";
import { fleetPlace } from "./network.ts";
import {
  controlPlaneSecrets,
  databaseUrl,
  encryptionKeys,
  fleetSecrets,
  rotating,
} from "./secret.ts";
import { stage, surrounding } from "./stage.ts";

/** Where the admin API and workers reach it. */
export const controlUrl: $util.Output<string> = $dev ? locally() : deployed();

function deployed(): $util.Output<string> {
  switch (stage.control) {
    case "functions":
      return asFunctions();
    case "container":
      return asContainer();
  }
}

function asFunctions(): $util.Output<string> {
  const control = new sst.aws.Function("Control", {
    description: "Control plane: admin API and worker API",
    ...functionBundle("control"),
    // The stream answers as it goes; a function URL is the only door that lets it.
    streaming: true,
    url: { cors: false },
    link: [databaseUrl(), encryptionKeys(), fleetSecrets()],
    environment: { GATEWAY_MIGRATED: migrated, ...driversOfStage() },
    timeout: `${functionTimeoutSecs} seconds`,
    memory: "512 MB",
    concurrency: { reserved: stage.functionsMax },
    logging: { retention: logRetention },
  });
  alarmsOfFunction("Control", control.name);
  alarmsOfCounts("Control", control.name);
  upkeep();
  return control.url;
}

/** What the workers have: a function loads no library itself. */
function driversOfStage(): Record<string, string> {
  const { adbcDrivers } = stage;
  return adbcDrivers === undefined ? {} : { GATEWAY_ADBC_DRIVERS: adbcDrivers.join(",") };
}

/** What a container does in the background: nothing runs in a function between two requests. */
function upkeep(): void {
  const scheduled = new sst.aws.CronV2("Upkeep", {
    schedule: "rate(10 minutes)",
    // Deleting is asked for again soon; two at once would wait for each other's locks.
    retries: 0,
    function: {
      description: "Deletes what the control plane's retention says",
      ...functionBundle("upkeep"),
      link: [databaseUrl()],
      // A database of another version is refused, so the migration comes first.
      environment: {
        GATEWAY_MIGRATED: migrated,
        GATEWAY_RETENTION: JSON.stringify(stage.retention),
      },
      timeout: `${upkeepTimeoutMinutes} minutes`,
      memory: "256 MB",
      concurrency: { reserved: 1 },
      logging: { retention: logRetention },
    },
  });
  const { name } = scheduled.nodes.function;
  alarmsOfFunction("Upkeep", name);
  alarmOfSilence("Upkeep", name);
}

function asContainer(): $util.Output<string> {
  const domain = surrounding("domain");
  const { cluster, range } = fleetPlace();
  const { retention, adbcDrivers } = stage;
  const config = $util
    .all([rotating(), range])
    .apply(([which, addresses]) =>
      JSON.stringify(
        controlPlaneConfig({ domain, range: addresses, rotating: which, retention, adbcDrivers }),
      ),
    );
  const control = new sst.aws.Service("Control", {
    cluster,
    image: surrounding("image"),
    architecture: "arm64",
    cpu: "0.5 vCPU",
    memory: "1 GB",
    entrypoint: startCommand,
    environment: { GATEWAY_CONFIG: config, GATEWAY_MIGRATED: migrated },
    ssm: controlPlaneSecrets(),
    health: { command: healthCommand, startPeriod: "20 seconds" },
    logging: { retention: logRetention },
    scaling: stage.containers,
    loadBalancer: {
      domain,
      rules: [{ listen: "443/https", forward: `${adminPort}/http` }],
      health: { [`${adminPort}/http`]: { path: "/readyz", interval: "10 seconds" } },
    },
    transform: {
      // A held wait takes 55 seconds and a stream says something at least as often.
      loadBalancer: { idleTimeout: 120 },
      // Nobody opens a shell beside the keys of the database.
      service: { enableExecuteCommand: false },
    },
    wait: true,
  });
  alarmOfContainers("Control", cluster, control, stage.containers.min);
  return control.url;
}

/** `sst dev`: this checkout, with `infra/dev.yaml`. */
function locally(): $util.Output<string> {
  new sst.x.DevCommand("Control", {
    dev: {
      title: "control plane",
      command: "node packages/gateway/bin/gateway.mjs start --config infra/dev.yaml",
      autostart: true,
    },
    environment: { [variables.fleetSecret]: fleetSecrets().value },
  });
  return $output(`http://127.0.0.1:${adminPort}`);
}
