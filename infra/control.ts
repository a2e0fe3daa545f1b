/**
 * The control plane: functions or a container, by one value of the stage. The handlers are the same.
 *
 * `sst dev` runs it on this machine with an embedded database instead, and deploys neither.
 */
import { functionBundle } from "./bundle.ts";
import { migrated } from "./database.ts";
import {
  adminPort,
  controlPlaneConfig,
  functionTimeoutSecs,
  healthCommand,
  startCommand,
  variables,
} from "./gatewayConfig.ts";
import { cluster, networkRange } from "./network.ts";
import {
  controlPlaneSecrets,
  databaseUrl,
  encryptionKeys,
  fleetSecrets,
  rotating,
} from "./secret.ts";
import { image, stage } from "./stage.ts";

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
    link: [databaseUrl, encryptionKeys, fleetSecrets],
    environment: { GATEWAY_MIGRATED: migrated },
    timeout: `${functionTimeoutSecs} seconds`,
    memory: "512 MB",
    concurrency: { reserved: stage.functionsMax },
    logging: { retention: "1 month" },
  });
  return control.url;
}

function asContainer(): $util.Output<string> {
  const { domain } = stage;
  if (domain === undefined) {
    throw new Error("A control plane in a container needs the stage's domain: TLS ends there");
  }
  const config = $util
    .all([rotating, networkRange])
    .apply(([which, range]) =>
      JSON.stringify(controlPlaneConfig({ domain, range, rotating: which })),
    );
  const control = new sst.aws.Service("Control", {
    cluster,
    image: image(),
    architecture: "arm64",
    cpu: "0.5 vCPU",
    memory: "1 GB",
    entrypoint: startCommand,
    environment: { GATEWAY_CONFIG: config, GATEWAY_MIGRATED: migrated },
    ssm: controlPlaneSecrets(),
    health: { command: healthCommand, startPeriod: "20 seconds" },
    scaling: stage.containers,
    loadBalancer: {
      domain,
      rules: [{ listen: "443/https", forward: `${adminPort}/http` }],
      health: { [`${adminPort}/http`]: { path: "/readyz", interval: "10 seconds" } },
    },
    transform: {
      // A held wait takes 55 seconds and a stream says something at least as often.
      loadBalancer: { idleTimeout: 120 },
    },
    wait: true,
  });
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
    environment: { [variables.fleetSecret]: fleetSecrets.value },
  });
  return $output(`http://127.0.0.1:${adminPort}`);
}
