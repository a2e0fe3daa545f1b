/** What every cluster has in common. Each engine's `config.ts` spreads `clusterShape` into its own strict object, beside `engine: z.literal(kind)`. */
import { z } from "zod";
import { queryAuthSchema, type QueryAuth, type QueryAuthMode } from "./queryAuth.ts";
import { secretSchema } from "./secret.ts";

/** Common fields; `modes` are the identity modes that the engine has. */
export function clusterShape<const Modes extends readonly [QueryAuthMode, ...QueryAuthMode[]]>(
  modes: Modes,
) {
  return {
    enabled: z.boolean().default(true).meta({
      title: "Enabled",
      description: "A disabled cluster takes no queries and is not opened.",
    }),
    maxRunningQueries: z.int().min(1).optional().meta({
      title: "Running queries",
      description: "Cap of the cluster over all groups.",
      "x-unit": "queries",
    }),
    queryAuth: queryAuthSchema(modes),
  } as const;
}

export interface CommonClusterConfig {
  readonly engine: string;
  readonly enabled: boolean;
  readonly maxRunningQueries?: number | undefined;
  readonly queryAuth?: QueryAuth | undefined;
}

/** How the gateway itself can log in to an engine. An engine's config lists what it supports. */
const authKinds = {
  basic: z
    .strictObject({
      type: z.literal("basic"),
      username: z.string().min(1).meta({ title: "User", description: "The service account." }),
      password: secretSchema.meta({
        title: "Password",
        description: "Password of the service account.",
        "x-secret": true,
      }),
    })
    .meta({ title: "User and password", description: "A service account with a password." }),
  bearer: z
    .strictObject({
      type: z.literal("bearer"),
      token: secretSchema.meta({
        title: "Token",
        description: "Token of the service account.",
        "x-secret": true,
      }),
    })
    .meta({ title: "Token", description: "A service account with a token." }),
  keyPair: z
    .strictObject({
      type: z.literal("keyPair"),
      username: z.string().min(1).meta({ title: "User", description: "The service account." }),
      privateKeyPem: secretSchema.meta({
        title: "Private key",
        description: "PKCS #8 in PEM.",
        "x-secret": true,
      }),
      privateKeyPassphrase: secretSchema.optional().meta({
        title: "Passphrase",
        description: "Opens an encrypted private key.",
        "x-secret": true,
      }),
    })
    .meta({ title: "Key pair", description: "A service account with a key." }),
} as const;
export type ClusterAuthKind = keyof typeof authKinds;
export type ClusterAuth = {
  [Kind in ClusterAuthKind]: z.output<(typeof authKinds)[Kind]>;
}[ClusterAuthKind];
export type ClusterAuthOf<Kind extends ClusterAuthKind> = Extract<ClusterAuth, { type: Kind }>;

/** `auth` of a cluster with the kinds its engine has: the gateway's own credential toward it. */
export function clusterAuthSchema<
  const Kinds extends readonly [ClusterAuthKind, ...ClusterAuthKind[]],
>(kinds: Kinds) {
  const [first, ...rest] = kinds.map((kind) => authKinds[kind]);
  if (first === undefined)
    throw new TypeError("an engine without a kind of login leaves `auth` out");
  const schema = z
    .discriminatedUnion("type", [first, ...rest], {
      error: ({ code }) =>
        code === "invalid_union" ? `this engine has ${kinds.join(", ")} only` : undefined,
    })
    .meta({
      title: "Service account",
      description: "The gateway's own credential toward the engine.",
    });
  return schema as unknown as z.ZodType<ClusterAuthOf<Kinds[number]>>;
}

/** `tls` of a cluster: how the engine's certificate is checked. */
export const clusterTlsSchema = z
  .strictObject({
    caFile: z.string().min(1).optional().meta({
      title: "CA file",
      description: "PEM file of the authorities to trust. Absent: those of the system.",
      "x-file-path": true,
    }),
    serverName: z.string().min(1).optional().meta({
      title: "Server name",
      description: "Name that the certificate must hold. Absent: the host of the address.",
    }),
  })
  .meta({ title: "TLS", description: "How the engine's certificate is checked." });
export type ClusterTls = z.output<typeof clusterTlsSchema>;

/** `healthCheckQuery` of a cluster. */
export const healthCheckQuerySchema = z.string().min(1).max(1_000).meta({
  title: "Health check",
  description: "Statement that tells whether the cluster is healthy. Absent: the engine's own.",
});
