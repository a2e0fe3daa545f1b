/** The control plane's part of `gateway`: the admin listener, the worker API, and what is kept how long. */
import { tlsSchema } from "@gateway/contract/config/listener.ts";
import { signOnSchema } from "@gateway/access/signOn/config.ts";
import { secretSchema } from "@gateway/contract/config/secret.ts";
import { historySettingSchema } from "@gateway/control/config/objects.ts";
import { secretRefsAllowedDefault } from "@gateway/control/config/secret/references.ts";
import { driverNames } from "@gateway/engines/adbc/config.ts";
import { z } from "zod";
import { isNetwork } from "../host/egress.ts";

/** The fleet secret opens the whole configuration; 32 characters of base64 are 192 bits. */
const sharedSecretCharsMin = 32;

const firstAdmin = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$/, "must be letters, digits and ._@-")
      .default("admin")
      .meta({ title: "Name", description: "Name of the user." }),
    password: secretSchema.meta({
      title: "Password",
      description: "At least 12 characters; used once, while there is no user.",
      "x-secret": true,
    }),
  })
  .meta({
    title: "First administrator",
    description:
      "Made at the first start. Absent: the first start prints a one-time set-up token instead.",
  });

/** Queries of the admin API's own users, by the web console. */
const queryConsole = z
  .strictObject({
    enabled: z.boolean().optional().meta({
      title: "Enabled",
      description:
        "Whether operators and admins may run queries, under their own names. Absent: in the role standalone only.",
    }),
    writes: z.boolean().default(false).meta({
      title: "Writes",
      description: "Whether statements that may change something are run too.",
    }),
    maxRows: z.int().min(1).max(1_000_000).default(10_000).meta({
      title: "Rows",
      description: "Most rows of one result; a longer one is cut there and says so.",
      "x-unit": "rows",
    }),
    maxBytes: z
      .int()
      .min(65_536)
      .max(1 << 30)
      .default(16 << 20)
      .meta({
        title: "Bytes",
        description: "About how many bytes one result carries; a longer one is cut there.",
        "x-unit": "bytes",
      }),
    maxSecs: z.int().min(1).max(3_600).default(300).meta({
      title: "Time",
      description: "Longest time from the request to the end of a query.",
      "x-unit": "seconds",
    }),
  })
  .meta({
    title: "Query console",
    description:
      "Queries that users of the admin API run by its web console. They are routed and guarded like those of any client; no credential of the user reaches an engine.",
  });

export const adminApiSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .meta({ title: "Enabled", description: "Whether the listener is opened." }),
    host: z.string().min(1).default("127.0.0.1").meta({
      title: "Address",
      description:
        "Address to bind. Passwords and secrets travel here, so off loopback it needs `tls`, or `allowCleartext`.",
    }),
    port: z
      .int()
      .min(0)
      .max(65535)
      .default(9000)
      .meta({ title: "Port", description: "TCP port; 0 picks a free one." }),
    tls: tlsSchema.optional(),
    allowCleartext: z.boolean().default(false).meta({
      title: "Allow clear text",
      description: "A proxy in front ends TLS: serve without it although not on loopback.",
    }),
    allowedHosts: z
      .array(z.string().min(1))
      .default([])
      .meta({
        title: "Allowed hosts",
        description:
          "Names that requests may address the listener by, beside addresses and localhost: what a scraper's target says.",
        examples: [["gateway.internal"]],
      }),
    trustedProxies: z.array(z.string().min(1)).default([]).meta({
      title: "Trusted proxies",
      description: "Addresses or CIDR ranges whose forwarded-address headers are believed.",
    }),
    firstAdmin: firstAdmin.optional(),
    signOn: z
      .strictObject({ oidc: signOnSchema })
      .optional()
      .meta({ title: "Sign-on", description: "Administrators sign on without a password here." }),
    queryConsole: queryConsole.prefault({}),
  })
  .meta({
    title: "Admin listener",
    description:
      "Serves /admin, /worker, /openapi.json, and without login /health, /readyz and /metrics.",
  });

/** One fleet secret, as both sides write it. */
export const fleetSecretSchema = secretSchema
  .refine(
    (value) => typeof value !== "string" || value.length >= sharedSecretCharsMin,
    `must have at least ${sharedSecretCharsMin} characters`,
  )
  .meta({ title: "Secret", description: "Value or reference.", "x-secret": true });

export const workerApiSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .meta({ title: "Enabled", description: "Serve workers on the admin listener." }),
    sharedSecret: z
      .union([fleetSecretSchema, z.array(fleetSecretSchema).min(1).max(2)])
      .meta({
        title: "Fleet secret",
        description:
          "Bearer secret of every worker, at least 32 characters; a list of two (current, previous) while it is changed. Required where workers are served.",
        "x-secret": true,
      })
      .optional(),
    history: historySettingSchema.optional(),
    capacity: z
      .strictObject({
        leaseSecs: z.int().min(15).max(3_600).default(60).meta({
          title: "Lease",
          description:
            "How long a slot is held without a renewal. After it, and ten seconds more, the engine is asked whether it still runs the query.",
          "x-unit": "seconds",
        }),
        orphanKillSecs: z.int().min(15).max(86_400).default(60).meta({
          title: "Orphans",
          description:
            "After this long without a sign of life of its worker a running query is ended in the engine.",
          "x-unit": "seconds",
        }),
      })
      .prefault({})
      .meta({ title: "Shared capacity", description: "Slots that workers hold by leases." }),
  })
  .meta({
    title: "Worker API",
    description: "Serves configuration to workers, takes their records.",
  });

const days = (value: number) => z.int().min(1).max(36_500).default(value);

export const retentionSchema = z
  .strictObject({
    historyDays: days(30).meta({
      title: "History age",
      description: "Query records older than this are deleted.",
      "x-unit": "days",
    }),
    historyRecords: z.int().min(0).max(1_000_000_000).default(10_000_000).meta({
      title: "History size",
      description: "Most query records kept; the oldest go first.",
      "x-unit": "records",
    }),
    auditDays: days(400).meta({
      title: "Audit age",
      description: "Rows of the audit log older than this are deleted.",
      "x-unit": "days",
    }),
    revisions: z.int().min(1).max(100_000).default(1_000).meta({
      title: "Revisions",
      description: "Newest revisions of the configuration kept, to compare and to roll back to.",
      "x-unit": "revisions",
    }),
  })
  .meta({ title: "Retention", description: "How long the database keeps what grows." });

/** What objects that come through the admin API may refer to on this host. */
export const secretLimitsSchema = z
  .strictObject({
    allow: z
      .array(z.string().regex(/^(env|file):.+$/, "must be env:NAME or file:/path"))
      .default([...secretRefsAllowedDefault])
      .meta({
        title: "Allowed references",
        description: "Secret references that objects may hold; `*` does not cross `/`.",
      }),
  })
  .meta({ title: "Secret references", description: "Limits on objects of the admin API." });

export const fileLimitsSchema = z
  .strictObject({
    allow: z.array(z.string().startsWith("/", "must be an absolute path")).default([]).meta({
      title: "Allowed folders",
      description: "Folders in which file paths of objects may lie.",
    }),
  })
  .meta({
    title: "File paths",
    description:
      "Limits on objects of the admin API. What the config file itself names is allowed.",
  });

/** `gateway.adbc`: which drivers are there, and which libraries objects may name by their path. */
export const adbcLimitsSchema = z
  .strictObject({
    libraries: z
      .array(z.string().startsWith("/", "must be an absolute path"))
      .default([])
      .meta({
        title: "Allowed libraries",
        description:
          "Libraries of ADBC drivers, and folders of them, that clusters may name by path. A library is code that runs with the rights of the gateway.",
        examples: [["/opt/adbc"]],
      }),
    drivers: z
      .array(z.enum(driverNames))
      .optional()
      .meta({
        title: "Installed drivers",
        description:
          "Drivers that clusters may name. The gateway does not start where the library of one is missing. DuckDB's always is there. Absent: a missing library is found when a cluster is opened.",
        examples: [["snowflake", "postgresql"]],
      }),
  })
  .meta({
    title: "ADBC drivers",
    description:
      "Limits on objects of the admin API. What the config file itself names is allowed.",
  });

const networks = z.array(
  z.string().refine(isNetwork, "must be an IP address or a network such as 10.0.0.0/8"),
);

/** `gateway.egress`: at which addresses the configuration's clusters, identity providers and policy servers may lie. */
export const egressSchema = z
  .strictObject({
    allow: networks.default([]).meta({
      title: "Allowed networks",
      description: "Not empty: connections lead nowhere else.",
      examples: [["10.0.0.0/8"]],
    }),
    deny: networks.default([]).meta({
      title: "Denied networks",
      description: "Refused always. Link-local and metadata addresses are, unless allowed above.",
    }),
  })
  .meta({
    title: "Outgoing connections",
    description: "Checked against the address that is really connected to.",
  });

/** `gateway.relay`: where other gateways of the fleet bring polls of queries that are here. */
export const relaySchema = z
  .strictObject({
    host: z.string().min(1).default("0.0.0.0").meta({
      title: "Address",
      description:
        "Address to bind. Both ends prove the fleet secret by TLS with a key made from it.",
    }),
    port: z
      .int()
      .min(0)
      .max(65535)
      .default(9001)
      .meta({ title: "Port", description: "TCP port; 0 picks a free one." }),
    advertise: z
      .string()
      .min(1)
      .max(90)
      .regex(/^[\w.:[\]-]+$/, "must be a host, or host:port")
      .optional()
      .meta({
        title: "Advertised address",
        description:
          "Host, or host and port, at which the fleet reaches this process. Absent: the first address of this machine that is not loopback.",
        examples: ["10.0.3.7"],
      }),
  })
  .meta({
    title: "Relay",
    description:
      "Lets a balancer send each poll to any gateway: one that does not have the query passes the request on to the one that does. Needs the fleet secret; absent, such a poll is answered `query.elsewhere`.",
  });

export type RelayConfig = z.output<typeof relaySchema>;
