/** Access control by a policy server: where it is, and how it is asked. Shapes only. */
import { z } from "zod";
import { secretSchema } from "./secret.ts";

const common = {
  url: z
    .string()
    .max(2_048)
    .refine(isHttp, "must be an http or https URL")
    .meta({
      title: "Server",
      description: "Base address of the server's HTTP API.",
      examples: ["http://127.0.0.1:8181"],
    }),
  credentials: z
    .strictObject({
      bearer: secretSchema.meta({
        title: "Bearer token",
        description: "What the server, or a proxy in front of it, knows the gateway by.",
        "x-secret": true,
      }),
    })
    .optional()
    .meta({ title: "Credentials", description: "The gateway's own toward the server." }),
  caFile: z.string().min(1).optional().meta({
    title: "CA file",
    description: "PEM file of the authorities to trust. Absent: those of the system.",
    "x-file-path": true,
  }),
  timeoutMs: z.int().min(50).max(60_000).default(2_000).meta({
    title: "Timeout",
    description: "How long an answer about one table may take; after it the statement is refused.",
    "x-unit": "milliseconds",
  }),
  cacheTtlMs: z.int().min(0).max(300_000).default(5_000).meta({
    title: "Cache",
    description:
      "How old a decision may be, allowed or denied. After it the server is asked again; 0 remembers nothing.",
    "x-unit": "milliseconds",
  }),
} as const;

const rulePath = z
  .string()
  .max(500)
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*(\/[A-Za-z_][A-Za-z0-9_]*)*$/,
    "must be names of a package and a rule with / between them",
  );

const safe = {
  path: ["url"],
  error: "must be https, because credentials are sent",
};

const opa = z
  .strictObject({
    ...common,
    api: z.enum(["data", "compile"]).meta({
      title: "API",
      description:
        "data: the rule says the whole decision. compile: the rule is evaluated in part, and what is left of it is the row filter (OPA 1.9 and newer).",
    }),
    path: rulePath.meta({
      title: "Rule",
      description: "The rule that is asked for, behind /v1/data or /v1/compile.",
      examples: ["gateway/decision"],
    }),
    maskPath: rulePath.optional().meta({
      title: "Rule of masks",
      description:
        "For compile: the rule that lists the columns of input.row that are shown, each with its mask. Where it lists none, nothing is shown.",
      examples: ["gateway/masks"],
    }),
  })
  .refine(({ api, maskPath }) => api === "compile" || maskPath === undefined, {
    path: ["maskPath"],
    error: "is for api: compile; the answer of data holds its masks",
  })
  .refine(isSafe, safe)
  .meta({ title: "Open Policy Agent", description: "The server that is asked, and the rule." });

const cerbosWord = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.:/@-]{0,127}$/, "must be a name");

const cerbos = z
  .strictObject({
    ...common,
    kind: cerbosWord.default("table").meta({
      title: "Resource kind",
      description: "The kind of resource that the policy about tables is for.",
    }),
    policyVersion: cerbosWord.optional().meta({
      title: "Policy version",
      description: "Version of the resource policy. Absent: the server's default.",
    }),
    scope: cerbosWord.optional().meta({
      title: "Scope",
      description: "Scope of the resource policy. Absent: none.",
    }),
  })
  .refine(isSafe, safe)
  .meta({ title: "Cerbos", description: "The server that is asked." });

export const policyServers = { opa, cerbos } as const;

/** For other servers that are asked over HTTP in the same way. */
export const policyServerParts = { ...common, isSafe, safe } as const;

export type OpaConfig = z.output<typeof opa>;
export type CerbosConfig = z.output<typeof cerbos>;

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function isSafe({ url, credentials }: { url: string; credentials?: unknown }): boolean {
  if (credentials === undefined || !URL.canParse(url)) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
