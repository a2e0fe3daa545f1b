/** Config of clusters that are reached over a database's own protocol: several servers, and the gateway's certificate. */
import { z } from "zod";
import { clusterTlsSchema, healthCheckQuerySchema } from "./cluster.ts";

/** Fields of the cluster's own TLS: also how the gateway shows who it is. */
export const serverTlsSchema = clusterTlsSchema
  .extend({
    certFile: z.string().min(1).optional().meta({
      title: "Certificate file",
      description: "PEM file of the gateway's own certificate, for servers that ask for one.",
      "x-file-path": true,
    }),
    keyFile: z.string().min(1).optional().meta({
      title: "Key file",
      description: "PEM file of the key to that certificate.",
      "x-file-path": true,
    }),
  })
  .meta({
    title: "TLS",
    description:
      "How the server's certificate is checked. Absent: the connection is not encrypted.",
  });

export type ServerTlsConfig = z.output<typeof serverTlsSchema>;

/** Names of servers, with or without a port. */
export function hostsSchema(defaultPort: number) {
  return z
    .array(
      z
        .string()
        .refine((host) => hostOf(host, defaultPort) !== undefined, "must be host or host:port"),
    )
    .min(1)
    .max(16);
}

/** How long connections of a pool take to come and stay. */
export const poolTimesShape = {
  connectTimeoutSecs: z.int().min(1).max(300).default(10).meta({
    title: "Connect limit",
    description: "A host where no login succeeded after this long has failed.",
    "x-unit": "seconds",
  }),
  idleTimeoutSecs: z.int().min(1).max(86_400).default(300).meta({
    title: "Idle connections",
    description: "A connection without a statement for this long is closed.",
    "x-unit": "seconds",
  }),
  healthCheckQuery: healthCheckQuerySchema.optional(),
};

/** What every cluster of this kind is refused for. `path` of a key, and why. */
export function serverFaults({
  tls,
  auth,
  queryAuth,
}: {
  readonly tls?: ServerTlsConfig | undefined;
  readonly auth?: unknown;
  readonly queryAuth?: { readonly type: string } | undefined;
}): readonly (readonly [path: string, message: string])[] {
  const faults: (readonly [string, string])[] = [];
  const mode = queryAuth?.type ?? "serviceAccount";
  if (mode === "passthrough" && tls === undefined)
    faults.push(["tls", "passthrough sends what clients log in with: tls is needed"]);
  if (mode === "serviceAccount" && auth === undefined)
    faults.push(["auth", "a service account is needed"]);
  if ((tls?.certFile === undefined) !== (tls?.keyFile === undefined))
    faults.push(["tls", "a certificate and its key belong together"]);
  return faults;
}

/** A server's name and port. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** `host`, `host:port`, `[::1]` or `[::1]:port`; undefined for anything else. */
export function hostOf(text: string, defaultPort: number): HostPort | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}
