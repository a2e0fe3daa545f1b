/** The deployment, walked from its first line to its last for each kind of stage. */
import { readFileSync } from "node:fs";
import { checkConfig, parseConfig } from "@gateway/gateway/config/load.ts";
import { families } from "@gateway/gateway/docs/metricsPage.ts";
import { metricsNamespace } from "@gateway/gateway/lambda/embedded.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { frontendPorts, relayPort, variables } from "../../infra/gatewayConfig.ts";
import { configIn, linksOf, transformed } from "./arguments.ts";
import { outputOf, shown } from "./outputs.ts";
import { recorder, secretPaths, type Deployed, type Made, type Recorder } from "./recorded.ts";

const limits = { min: 2, max: 3 };
const clusterSecrets = { TrinoPassword: "GATEWAY_SECRET_TRINO" };
const kinds = {
  "functions alone": {},
  "functions and workers": {
    workers: limits,
    secrets: clusterSecrets,
    adbcDrivers: ["postgresql"],
  },
  "containers alone": { control: "container", secrets: clusterSecrets },
  "containers and workers": {
    control: "container",
    workers: limits,
    secrets: clusterSecrets,
    retention: { historyDays: 7 },
    adbcDrivers: ["snowflake", "sqlite"],
    alarmEmail: "ops@example.org",
  },
} as const;
type Kind = keyof typeof kinds;
const names = Object.keys(kinds) as Kind[];
const withWorkers: readonly Kind[] = names.filter((kind) => "workers" in kinds[kind]);
const withContainers: readonly Kind[] = names.filter((kind) => kind !== "functions alone");

let recording: Recorder;
const deployed = new Map<Kind, Deployed>();

beforeAll(async () => {
  recording = await recorder();
  for (const kind of names) deployed.set(kind, await recording.deploy(situationOf(kind)));
});
afterAll(() => recording[Symbol.dispose]());

describe("a stage that lacks something", () => {
  it.each(names)("is refused before anything is made, with every name (%s)", async (kind) => {
    const made: Made[] = [];
    const bare = { ...situationOf(kind), secrets: {}, variables: {} };
    const message = await refusalOf(recording.deploy(bare, made));
    expect(made).toEqual([]);
    const wanted = ["DatabaseUrl", "EncryptionKeys", "FleetSecrets"];
    if (withWorkers.includes(kind)) wanted.push("Certificate", "PrivateKey");
    if (withContainers.includes(kind)) wanted.push("TrinoPassword");
    const said = [...message.matchAll(/secret (\w+): not set/g)].map(([, name]) => name);
    expect(said).toEqual(wanted);
    expect(message.includes("GATEWAY_IMAGE: not set")).toBe(withContainers.includes(kind));
    expect(message.includes("GATEWAY_DOMAIN: not set")).toBe(kind.startsWith("containers"));
  });

  it.each([
    ["secret DatabaseUrl", { DatabaseUrl: "mysql://hunter2@db" }, {}],
    ["secret EncryptionKeys", { EncryptionKeys: "hunter2" }, {}],
    ["secret FleetSecrets", { FleetSecrets: `${"f".repeat(32)},hunter2` }, {}],
    ["secret Certificate", { Certificate: "hunter2" }, {}],
    ["secret PrivateKey", { PrivateKey: "hunter2" }, {}],
    ["GATEWAY_IMAGE", {}, { GATEWAY_IMAGE: "registry.example/hunter2:latest" }],
    ["GATEWAY_DOMAIN", {}, { GATEWAY_DOMAIN: "https://hunter2.example/" }],
  ])("has a value refused that is not one: %s", async (name, secrets, changed) => {
    const whole = situationOf("containers and workers");
    const wrong = {
      ...whole,
      secrets: { ...whole.secrets, ...secrets },
      variables: { ...whole.variables, ...changed },
    };
    const message = await refusalOf(recording.deploy(wrong));
    expect(message.split("\n").slice(1)).toEqual([expect.stringContaining(`- ${name}: `)]);
    expect(message).not.toContain("hunter2");
  });

  it.each([
    [{ workers: { min: 4, max: 3 } }, "stage.workers: "],
    [{ adbcDrivers: ["duckdb", "sqlite"] }, "stage.adbcDrivers: duckdb "],
    [{ secrets: { Trino: "TRINO_PASSWORD" } }, "stage.secrets.Trino: "],
    [{ secrets: { DatabaseUrl: "GATEWAY_SECRET_X" } }, "stage.secrets: DatabaseUrl"],
  ])("has a setting refused that can not work: %j", async (settings, said) => {
    const whole = situationOf("functions and workers");
    const secrets = { ...whole.secrets, Trino: "t" };
    const message = await refusalOf(
      recording.deploy({ ...whole, secrets, stages: { ann: { ...settings } } }),
    );
    expect(message).toContain(`- ${said}`);
  });
});

describe("secrets", () => {
  it.each(names)("stand in no argument but a sealed parameter's value (%s)", (kind) => {
    const { made } = of(kind);
    // A link is sealed by SST; a config knows of secrets only how many there are.
    const sealed = /^aws\.ssm\.Parameter \w+\.value$|\.link\.\d\.value$|\.GATEWAY_CONFIG$/;
    expect(made.flatMap(secretPaths).filter((path) => !sealed.test(path))).toEqual([]);
    for (const { args } of of(kind).all("aws.ssm.Parameter"))
      expect(args["type"]).toBe("SecureString");
    const plain = made.filter(({ type }) => type !== "aws.ssm.Parameter");
    const texts = JSON.stringify(plain, (key, value) => (key === "link" ? [] : shown(key, value)));
    const values = Object.values(situationOf(kind).secrets).flatMap((list) => list.split(","));
    for (const value of values) expect(texts).not.toContain(JSON.stringify(value).slice(1, -1));
  });

  it.each(withContainers)(
    "are given to a container under every name its config has (%s)",
    (kind) => {
      for (const { args } of of(kind).all("sst.aws.Service")) {
        const given = Object.keys(args["ssm"] as object);
        const text = JSON.stringify(configIn(args));
        const asked = [...text.matchAll(/env:(\w+)/g)].map(([, name]) => name);
        expect(asked.length).toBeGreaterThan(0);
        expect(asked.filter((name) => !given.includes(name ?? ""))).toEqual([]);
        expect(given).toContain("GATEWAY_SECRET_TRINO");
      }
    },
  );

  it.each(withWorkers)("of the database are no worker's (%s)", (kind) => {
    const given = Object.keys(of(kind).one("sst.aws.Service", "Worker").args["ssm"] as object);
    expect(given.filter((name) => /DATABASE|ENCRYPTION/.test(name))).toEqual([]);
    expect(given).toEqual(
      expect.arrayContaining([variables.fleetSecret, variables.certificate, variables.privateKey]),
    );
  });

  it.each(["functions alone", "functions and workers"] as const)(
    "are linked to functions, each what it needs (%s)",
    (kind) => {
      expect(linksOf(of(kind).one("sst.aws.Function", "Control").args)).toEqual([
        "DatabaseUrl",
        "EncryptionKeys",
        "FleetSecrets",
      ]);
      expect(linksOf(of(kind).one("sst.aws.Function", "Migration").args)).toEqual(["DatabaseUrl"]);
      expect(linksOf(upkeepOf(of(kind)))).toEqual(["DatabaseUrl"]);
    },
  );
});

describe("a control plane of functions", () => {
  it("needs no network, no image and no certificate where there are no workers", () => {
    const types = of("functions alone").made.map(({ type }) => type);
    expect(types.filter((type) => /Vpc|Cluster|Service|ec2|ssm/.test(type))).toEqual([]);
    const secrets = of("functions alone").all("sst.Secret");
    expect(secrets.map(({ name }) => name)).toEqual([
      "DatabaseUrl",
      "EncryptionKeys",
      "FleetSecrets",
    ]);
  });

  it("is swept by a schedule", () => {
    const { args } = of("functions alone").one("sst.aws.CronV2", "Upkeep");
    expect(args["schedule"]).toBe("rate(10 minutes)");
    expect(upkeepOf(of("functions alone"))).toMatchObject({
      bundle: "packages/gateway/dist/lambda/upkeep",
      timeout: "10 minutes",
      concurrency: { reserved: 1 },
    });
  });
});

describe("the migration", () => {
  it.each(names)("runs before whatever reads the database (%s)", (kind) => {
    const { made, one } = of(kind);
    const step = made.indexOf(one("aws.lambda.Invocation", "Migrated"));
    const control = one(
      kind.startsWith("functions") ? "sst.aws.Function" : "sst.aws.Service",
      "Control",
    );
    expect(step).toBeLessThan(made.indexOf(control));
    const environment = control.args["environment"] as Record<string, unknown>;
    expect(JSON.stringify(environment["GATEWAY_MIGRATED"], shown)).toContain("Migrated.result");
  });
});

describe("containers", () => {
  it.each(withContainers)("start with a config that the gateway takes (%s)", (kind) => {
    for (const { args } of of(kind).all("sst.aws.Service")) {
      const checked = checkConfig(configIn(args));
      expect(checked.ok ? [] : checked.error).toEqual([]);
    }
  });

  it.each(withContainers)("are asked for their health, and open to no shell (%s)", (kind) => {
    const services = of(kind).all("sst.aws.Service");
    expect(services.length).toBe(kind === "containers and workers" ? 2 : 1);
    for (const { args } of services) {
      expect(args["health"]).toMatchObject({ command: ["CMD", "node", expect.any(String)] });
      expect(transformed(args, "service")).toMatchObject({ enableExecuteCommand: false });
      expect(args["image"]).toBe(image);
    }
  });

  it("keep what the stage says", () => {
    const { args } = of("containers and workers").one("sst.aws.Service", "Control");
    expect(configIn(args)).toMatchObject({ gateway: { retention: { historyDays: 7 } } });
  });

  it("have the drivers that the stage says, and so do functions that judge for workers", () => {
    for (const { args } of of("containers and workers").all("sst.aws.Service")) {
      expect(configIn(args)).toMatchObject({
        gateway: { adbc: { drivers: ["snowflake", "sqlite"] } },
      });
    }
    const judging = of("functions and workers").one("sst.aws.Function", "Control").args;
    expect(judging["environment"]).toMatchObject({ GATEWAY_ADBC_DRIVERS: "postgresql" });
    const alone = of("functions alone").one("sst.aws.Function", "Control").args;
    expect(alone["environment"]).not.toHaveProperty("GATEWAY_ADBC_DRIVERS");
  });

  it("answer for readiness at the balancer, under the stage's name only", () => {
    const { args } = of("containers alone").one("sst.aws.Service", "Control");
    expect(args["loadBalancer"]).toMatchObject({
      domain: "control.example",
      rules: [{ listen: "443/https", forward: "9000/http" }],
      health: { "9000/http": { path: "/readyz" } },
    });
    expect(configIn(args)).toMatchObject({
      gateway: { adminApi: { allowedHosts: ["control.example"], trustedProxies: ["10.0.0.0/16"] } },
    });
  });
});

describe("workers", () => {
  it.each(withWorkers)(
    "serve each protocol behind the balancer, which says who the client is (%s)",
    (kind) => {
      const { args } = of(kind).one("sst.aws.Service", "Worker");
      const ports = Object.values(frontendPorts);
      const balancer = args["loadBalancer"] as { rules: unknown; health: object };
      expect(balancer.rules).toEqual(ports.map((port) => ({ listen: `${port}/tcp` })));
      expect(Object.keys(balancer.health)).toEqual(ports.map((port) => `${port}/tcp`));
      expect(transformed(args, "target")).toMatchObject({ proxyProtocolV2: true });
      const { gateway } = configIn(args) as { gateway: { frontends: Record<string, object> } };
      for (const frontend of Object.values(gateway.frontends)) {
        expect(frontend).toMatchObject({ proxyProtocol: true, tls: expect.any(Object) });
      }
    },
  );

  it.each(withWorkers)(
    "are reached by the balancer alone, at the relay by each other, and by who collects metrics (%s)",
    (kind) => {
      const { args } = of(kind).one("sst.aws.Service", "Worker");
      const door = of(kind).one("aws.ec2.SecurityGroup", "WorkerDoor").args;
      const fleet = of(kind).one("aws.ec2.SecurityGroup", "WorkerFleet").args;
      const rules = (group: Made["args"]) =>
        (group["ingress"] as { fromPort: number; toPort: number }[]).map((rule) =>
          JSON.parse(JSON.stringify(rule, shown)),
        );
      const ports = Object.values(frontendPorts);
      expect(rules(door)).toEqual(
        ports.map((port) => ({ ...tcp(port), cidrBlocks: ["0.0.0.0/0"] })),
      );
      expect(rules(fleet)).toEqual([
        ...ports.map((port) => ({ ...tcp(port), securityGroups: ["<WorkerDoor.id>"] })),
        { ...tcp(relayPort), self: true },
        { ...tcp(9000), securityGroups: ["<WorkerScraper.id>"] },
      ]);
      expect(configIn(args)).toMatchObject({
        gateway: { relay: { port: relayPort }, adminApi: { tls: expect.any(Object) } },
      });
      expect(args["environment"]).toMatchObject({
        GATEWAY_HEALTH_URL: "https://127.0.0.1:9000/health",
      });
      const service = transformed(args, "service");
      const network = outputOf(service["networkConfiguration"]).value;
      expect(JSON.parse(JSON.stringify(network, shown))).toEqual({
        assignPublicIp: true,
        subnets: ["a"],
        securityGroups: ["<WorkerFleet.id>"],
      });
      expect(JSON.stringify(transformed(args, "loadBalancer"), shown)).toContain("<WorkerDoor.id>");
    },
  );
});

describe("logs and alarms", () => {
  it.each(names)(
    "are kept for a month, and each part has an alarm that tells somebody (%s)",
    (kind) => {
      const { all } = of(kind);
      const parts = [...all("sst.aws.Function"), ...all("sst.aws.Service")].map(({ args }) => args);
      parts.push(...all("sst.aws.CronV2").map(({ args }) => args["function"] as Made["args"]));
      for (const part of parts) expect(part["logging"]).toEqual({ retention: "1 month" });

      const alarms = all("aws.cloudwatch.MetricAlarm");
      const watched = [
        ...all("sst.aws.Function"),
        ...all("sst.aws.Service"),
        ...all("sst.aws.CronV2"),
      ]
        .map(({ name }) => name)
        // A migration that fails ends the deployment.
        .filter((name) => name !== "Migration");
      for (const name of watched) {
        expect([name, alarms.some((one) => one.name.startsWith(name))]).toEqual([name, true]);
      }
      for (const { args } of alarms) {
        expect(JSON.stringify(args["alarmActions"], shown)).toBe('["<Alarms.arn>"]');
      }
      const counted = alarms.filter(({ args }) => args["namespace"] === metricsNamespace);
      expect(counted).toHaveLength(kind.startsWith("functions") ? 2 : 0);
      for (const { args } of counted) {
        // A metric with a label would need its value as a dimension.
        const family = families.find(({ name }) => name === args["metricName"]);
        expect([args["metricName"], family?.labels]).toEqual([args["metricName"], []]);
      }
      const mails = all("aws.sns.TopicSubscription").map(({ args }) => args["endpoint"]);
      expect(mails).toEqual(kind === "containers and workers" ? ["ops@example.org"] : []);
    },
  );
});

describe("sst dev", () => {
  it("runs a control plane and a worker on this machine and deploys nothing", async () => {
    const { FleetSecrets } = situationOf("functions alone").secrets;
    const { made, one } = await recording.deploy({
      dev: true,
      stages: { ann: kinds["containers and workers"] },
      secrets: { FleetSecrets },
      variables: {},
    });
    const types = new Set(made.map(({ type }) => type));
    expect([...types].toSorted()).toEqual(["sst.Secret", "sst.x.DevCommand"]);
    for (const name of ["Control", "Worker"]) {
      const { command } = one("sst.x.DevCommand", name).args["dev"] as { command: string };
      const file = /--config (\S+)/.exec(command)?.[1] ?? "";
      const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
      const checked = parseConfig(text);
      expect(checked.ok ? [] : checked.error).toEqual([]);
    }
  });
});

describe("infra/stages.ts", () => {
  it.each(["production", "large", "anybody's"])(
    "has a stage that can be deployed: %s",
    async (stage) => {
      const { secrets, variables: set } = situationOf("containers and workers");
      const { outputs } = await recording.deploy({ stage, secrets, variables: set });
      expect(outputs["workers"] === "none").toBe(stage === "anybody's");
      expect(outputs["controlRunsAs"]).toBe(stage === "large" ? "container" : "functions");
    },
  );
});

const tcp = (port: number) => ({ protocol: "tcp", fromPort: port, toPort: port });
const image = `registry.example/gateway@sha256:${"0".repeat(64)}`;

function situationOf(kind: Kind) {
  const pem = (what: string) => `-----BEGIN ${what}-----\n${what} of ann\n-----END ${what}-----\n`;
  return {
    stages: { ann: kinds[kind] },
    secrets: {
      DatabaseUrl: "postgresql://gateway:of-the-database@db.example/gateway",
      EncryptionKeys: "an encryption key of ann,the one before it was changed",
      FleetSecrets: "a fleet secret of ann with many characters",
      Certificate: pem("CERTIFICATE"),
      PrivateKey: pem("PRIVATE KEY"),
      TrinoPassword: "a password of trino",
    },
    variables: { GATEWAY_IMAGE: image, GATEWAY_DOMAIN: "control.example" },
  };
}

function of(kind: Kind): Deployed {
  const found = deployed.get(kind);
  if (found === undefined) throw new Error(`${kind} was not deployed`);
  return found;
}

function upkeepOf({ one }: Deployed): Made["args"] {
  return one("sst.aws.CronV2", "Upkeep").args["function"] as Made["args"];
}

async function refusalOf(deploying: Promise<unknown>): Promise<string> {
  const refused = await deploying.then(
    () => new Error("it was deployed"),
    (cause: unknown) => cause,
  );
  return refused instanceof Error ? refused.message : String(refused);
}
