/** Keys of `gateway` that only a worker has: its name, its control plane, what it keeps. */
import { secretSchema } from "@gateway/contract/config/secret.ts";
import { z } from "zod";
import { fleetSecretSchema } from "./control.ts";

const secs = (min: number, max: number, value: number) => z.int().min(min).max(max).default(value);

const workerName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/, "must be a host name or the like")
  .meta({
    title: "Worker name",
    description: "Name in the registry and in records. Absent: the host's name.",
  });

const labels = z.record(z.string().min(1).max(256), z.string().max(1_024)).meta({
  title: "Labels",
  description: "Shown in the registry.",
  examples: [{ site: "berlin" }],
});

const auth = z
  .strictObject({
    mode: z
      .literal("sharedSecret")
      .default("sharedSecret")
      .meta({ title: "Mode", description: "How the worker proves that it belongs to the fleet." }),
    sharedSecret: z.union([fleetSecretSchema, z.array(fleetSecretSchema).min(1).max(2)]).meta({
      title: "Fleet secret",
      description:
        "As in the control plane's `workerApi.sharedSecret`; a list of two (current, previous) while it is changed.",
      "x-secret": true,
    }),
  })
  .meta({ title: "Authentication", description: "How the worker is let in." });

const maxAgeSecs = secs(60, 31_536_000, 86_400).meta({
  title: "Age limit",
  description: "A copy that the control plane confirmed longer ago is refused.",
  "x-unit": "seconds",
});

const peerBootstrap = z
  .strictObject({
    address: z
      .string()
      .min(1)
      .meta({
        title: "Address",
        description:
          "Host and port of other workers' admin listeners; every address the name has is asked.",
        examples: ["gateway-workers:9000"],
      }),
    scheme: z.enum(["http", "https"]).default("http").meta({
      title: "Scheme",
      description: "How peers are asked. Answers are sealed under the fleet secret either way.",
    }),
    afterSecs: secs(0, 86_400, 10).meta({
      title: "Delay",
      description: "How long the control plane alone is asked first.",
      "x-unit": "seconds",
    }),
    maxAgeSecs,
  })
  .meta({
    title: "Peer bootstrap",
    description:
      "A worker without a configuration copies one from another worker while the control plane does not answer, and gives its own to others.",
  });

const controlPlane = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .meta({
        title: "URL",
        description: "Where the control plane's admin listener is reached; https.",
        examples: ["https://gateway-control:9000"],
      }),
    auth,
    pollTimeoutSecs: secs(1, 55, 30).meta({
      title: "Poll time",
      description: "How long one question for a change is held.",
      "x-unit": "seconds",
    }),
    heartbeatIntervalSecs: secs(1, 3_600, 10).meta({
      title: "Heartbeat",
      description: "How often the worker reports; after three missed ones it is offline.",
      "x-unit": "seconds",
    }),
    allowInsecureHttp: z.boolean().default(false).meta({
      title: "Allow http",
      description: "For local demos: secret and configuration cross in clear text.",
    }),
    caFile: z.string().min(1).optional().meta({
      title: "CA file",
      description: "PEM file with the authorities that sign the control plane's certificate.",
    }),
    proxy: z
      .url()
      .optional()
      .meta({
        title: "Proxy",
        description: "HTTP proxy on the way to the control plane.",
        examples: ["http://proxy:3128"],
      }),
    peerBootstrap: peerBootstrap.optional(),
  })
  .meta({ title: "Control plane", description: "Where a worker gets its configuration." });

const coordination = z
  .strictObject({
    mode: z.enum(["controlPlane", "local"]).default("controlPlane").meta({
      title: "Mode",
      description:
        "controlPlane: one limit holds over the whole fleet. local: limits hold in each worker alone, so that the fleet runs up to their sum.",
    }),
    onUnavailable: z.enum(["failClosed", "localLimits"]).default("failClosed").meta({
      title: "Without the control plane",
      description:
        "failClosed: new queries wait, for the capacity wait timeout at most. localLimits: they are admitted against this worker's own limit, and the fleet may run more than the limit.",
    }),
    leaseAhead: z.int().min(0).max(64).default(4).meta({
      title: "Leases ahead",
      description:
        "Most unused slots that a busy worker holds per cluster, so that the next query starts without a question; given back after a second. 0 asks for each query.",
    }),
  })
  .meta({
    title: "Coordination",
    description: "Over what the limits of clusters and groups hold.",
  });

const history = z
  .strictObject({
    endpoint: z
      .url({ protocol: /^https?$/ })
      .nullable()
      .optional()
      .meta({
        title: "Endpoint",
        description:
          "Where this worker sends records, instead of where the configuration says; null means to the control plane.",
      }),
    bearer: secretSchema.optional().meta({
      title: "Bearer token",
      description: "Sent to `endpoint`; the fleet secret never is.",
      "x-secret": true,
    }),
    spoolMaxRecords: z.int().min(1).max(10_000_000).default(50_000).meta({
      title: "Spool",
      description: "Most records that wait; the oldest are dropped then, and counted.",
      "x-unit": "records",
    }),
    spool: z.enum(["memory", "disk"]).default("memory").meta({
      title: "Kind of spool",
      description: "disk keeps what waits over a restart, in `stateDir`.",
    }),
  })
  .meta({ title: "History", description: "How a worker sends its records." });

const lastGood = z
  .strictObject({
    enabled: z.boolean().default(false).meta({
      title: "Enabled",
      description: "Keep the active configuration in `stateDir`, sealed, to start from.",
    }),
    maxAgeSecs,
  })
  .meta({
    title: "Last good configuration",
    description: "What a worker starts with while everything else is dead.",
  });

/** All optional here; what a role needs and may not have is in rules.ts. */
export const workerKeys = {
  workerName: workerName.optional(),
  workerLabels: labels.optional(),
  workerLabelsFile: z.string().min(1).optional().meta({
    title: "Labels file",
    description: "File of `key=value` lines, merged over the labels; read again when it changes.",
  }),
  controlPlane: controlPlane.optional(),
  processes: z
    .int()
    .min(1)
    .max(64)
    .optional()
    .meta({
      title: "Processes",
      description:
        "How many processes run this worker, behind the same listeners: one for each core that it may use. To the control plane each is a worker, named `NAME.1`, `NAME.2` and so on. Absent: one.",
      "x-unit": "processes",
      examples: [2],
    }),
  coordination: coordination.optional(),
  history: history.optional(),
  stateDir: z.string().min(1).optional().meta({
    title: "State folder",
    description:
      "What this process keeps over a restart; held by one process. A worker seals it under the fleet secret; an owner on a database server keeps the ids of running queries there, so that a kill loses no record uncounted.",
  }),
  lastGood: lastGood.optional(),
} as const;

export const workerKeyNames = Object.keys(workerKeys) as readonly (keyof typeof workerKeys)[];

export type ControlPlaneConfig = z.output<typeof controlPlane>;
export type WorkerHistoryConfig = z.output<typeof history>;
export const workerHistoryDefaults: WorkerHistoryConfig = history.parse({});
export type CoordinationConfig = z.output<typeof coordination>;
export const coordinationDefaults: CoordinationConfig = coordination.parse({});
export const workerLastGoodDefaults = lastGood.parse({});
