/**
 * `infra/helm/values.schema.json`: what the chart takes. Keys of the gateway's configuration have their own
 * schemas here, less what the chart sets itself, so that Helm refuses what a start would refuse, before
 * anything is made.
 *
 * Secrets are references alone: what stands in values is kept in the cluster for everybody to read who may
 * read releases.
 */
import type { JsonSchema } from "@gateway/control/config/keys.ts";
import { rootJsonSchema } from "../config/load.ts";

type Schema = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, Schema>>;

/** Keys of `gateway` that each kind of pod takes; the chart sets role, database, fleet secret and ports. */
const controlKeys = [
  "logLevel",
  "shutdownDrainTimeoutSecs",
  "retention",
  "secrets",
  "files",
  "adbc",
  "egress",
] as const;
const workerKeys = [
  "logLevel",
  "shutdownDrainTimeoutSecs",
  "idleInTransactionSecs",
  "workerLabels",
  "coordination",
  "history",
  "lastGood",
  "files",
  "adbc",
  "egress",
] as const;
/** What the chart sets for a listener, and for its certificate. */
const ownOfListener = ["host", "port", "tls", "enabled", "allowCleartext"];
const ownOfTls = ["certFile", "keyFile"];

/** The file's text. The same code gives the same bytes. */
export function chartSchemaText(): string {
  return `${JSON.stringify(chartSchema())}\n`;
}

export function chartSchema(): Schema {
  const file = withoutClearSecrets(rootJsonSchema()) as JsonSchema;
  const { gateway, ...objects } = propertiesOf(file);
  const keys = propertiesOf(gateway);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Values of the chart query-gateway",
    $defs: file.$defs ?? {},
    ...object({
      global: anything,
      image: object({
        repository: { ...text, minLength: 1 },
        ...version,
        pullPolicy: { enum: ["Always", "IfNotPresent", "Never"] },
      }),
      imagePullSecrets: { type: "array", items: object({ name: nameOfSecret }, ["name"]) },
      fleetSecret: object({ name: nameOfSecret, key: keyOfSecret, previousKey: text }),
      tls: object({ secretName: nameOfSecret, caKey: text }),
      secrets: {
        type: "object",
        propertyNames: { pattern: "^GATEWAY_SECRET_[A-Z0-9_]+$" },
        additionalProperties: object({ name: nameOfSecret, key: keyOfSecret }, ["name", "key"]),
      },
      control: control(keys, objects),
      worker: worker(keys),
      networkPolicy: object({
        enabled: flag,
        ...Object.fromEntries(
          ["clients", "metrics", "admins", "workers"].map((name) => [name, peers]),
        ),
      }),
      monitoring: object({
        serviceMonitor: object({ enabled: flag, interval: duration, labels: texts }),
        rules: object({ enabled: flag, labels: texts }),
        dashboard: object({ enabled: flag, labels: texts }),
      }),
    }),
    allOf: conditions,
  };
}

/** What is needed only of pods that are made. */
const conditions = [
  {
    if: { properties: { control: { properties: { enabled: { const: true } } } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: {
      properties: {
        control: {
          properties: {
            database: { properties: { name: { minLength: 1 } } },
            encryptionKey: { properties: { name: { minLength: 1 } } },
          },
        },
      },
    },
    else: {
      properties: { worker: { properties: { controlUrl: { pattern: "^https://[^/]+" } } } },
    },
  },
];

function control(keys: Properties, objects: Properties): Schema {
  const listener = without(keys["adminApi"] ?? {}, ownOfListener);
  const workerApi = without(keys["workerApi"] ?? {}, ["enabled", "sharedSecret"]);
  const secret = { name: { ...text, maxLength: 253 }, key: keyOfSecret };
  return object({
    enabled: flag,
    replicas: count(1, 100),
    database: object(secret),
    encryptionKey: object({ ...secret, previousKey: text }),
    autoMigrate: flag,
    gateway: object({ ...picked(keys, controlKeys), adminApi: listener, workerApi }),
    objects: object(objects),
    resources,
    pod,
  });
}

function worker(keys: Properties): Schema {
  const listeners = Object.entries(propertiesOf(keys["frontends"]));
  const frontends = listeners.map(([kind, listener]) => [kind, frontend(listener)]);
  return object({
    enabled: flag,
    replicas: count(1, 10_000),
    image: object(version),
    controlUrl: text,
    frontends: { ...object(Object.fromEntries(frontends) as Properties), minProperties: 1 },
    gateway: object(picked(keys, workerKeys)),
    service: object({
      type: { enum: ["ClusterIP", "NodePort", "LoadBalancer"] },
      annotations: texts,
    }),
    storage: object({
      size: { ...text, pattern: "^([1-9][0-9]*(Mi|Gi|Ti|M|G|T)?)?$" },
      className: text,
    }),
    autoscaling: object({
      enabled: flag,
      min: count(1, 10_000),
      max: count(1, 10_000),
      cpuPercent: count(1, 100),
      queuedPerWorker: count(0, 1_000_000),
    }),
    resources,
    pod,
  });
}

/** Its port is part of the service, so it has to be said; its certificate is the chart's. */
function frontend(listener: Schema): Schema {
  const { port, tls, ...rest } = propertiesOf(without(listener, ["host"]));
  return object({ ...rest, port: { ...port, minimum: 1_024 }, tls: without(tls ?? {}, ownOfTls) }, [
    "port",
  ]);
}

const text = { type: "string" };
const texts = { type: "object", additionalProperties: text };
const flag = { type: "boolean" };
const anything = { type: "object" };
const version = {
  tag: { ...text, pattern: "^[A-Za-z0-9_.-]{0,128}$" },
  digest: { ...text, pattern: "^(sha256:[0-9a-f]{64})?$" },
};
const nameOfSecret = { ...text, minLength: 1, maxLength: 253 };
const keyOfSecret = { ...text, pattern: "^[-._a-zA-Z0-9]+$" };
const duration = { ...text, pattern: "^[1-9][0-9]*(ms|s|m|h)$" };
const peers = {
  type: "array",
  items: object({ podSelector: anything, namespaceSelector: anything, ipBlock: anything }),
};
const resources = object({ requests: anything, limits: anything, claims: { type: "array" } });
const pod = object({
  labels: texts,
  annotations: texts,
  nodeSelector: texts,
  tolerations: { type: "array" },
  affinity: anything,
  topologySpreadConstraints: { type: "array" },
  priorityClassName: text,
  runtimeClassName: text,
});

function count(minimum: number, maximum: number): Schema {
  return { type: "integer", minimum, maximum };
}

function object(properties: Properties, required: readonly string[] = []): Schema {
  return { type: "object", properties, required, additionalProperties: false };
}

function propertiesOf(schema: JsonSchema | Schema | undefined): Properties {
  return (schema?.["properties" as keyof typeof schema] ?? {}) as Properties;
}

function picked(keys: Properties, names: readonly string[]): Properties {
  return Object.fromEntries(names.map((name) => [name, keys[name] ?? missing(name)]));
}

/** The object without some of its keys, and without their being required. */
function without(schema: Schema, names: readonly string[]): Schema {
  const kept = Object.entries(propertiesOf(schema)).filter(([name]) => !names.includes(name));
  const required = ((schema["required"] ?? []) as readonly string[]).filter(
    (name) => !names.includes(name),
  );
  return { ...schema, properties: Object.fromEntries(kept), required };
}

/** Every secret as a reference alone. */
function withoutClearSecrets(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutClearSecrets);
  if (typeof schema !== "object" || schema === null) return schema;
  const { "x-secret": isSecret, anyOf, ...rest } = schema as Schema;
  const choices = (anyOf ?? []) as readonly Schema[];
  const kept = isSecret === true ? choices.filter(({ type }) => type !== "string") : choices;
  const entries = Object.entries(rest).map(([key, value]) => [key, withoutClearSecrets(value)]);
  const made = Object.fromEntries(entries) as Schema;
  return anyOf === undefined ? made : { ...made, anyOf: withoutClearSecrets(kept) };
}

function missing(name: string): never {
  throw new Error(`gateway.${name} is no key of the configuration any more`);
}
