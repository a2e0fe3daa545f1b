/** `queryAuth` of a cluster: as whom a query reaches the engine. */
import { z } from "zod";
import { secretSchema } from "./secret.ts";

export const queryAuthModes = [
  "serviceAccount",
  "passthrough",
  "impersonate",
  "tokenExchange",
] as const;
export type QueryAuthMode = (typeof queryAuthModes)[number];

const text = z.string().min(1).max(2_048);

const modes = {
  serviceAccount: z
    .strictObject({ type: z.literal("serviceAccount") })
    .meta({ title: "Service account", description: "The gateway's own credential, for everyone." }),
  passthrough: z.strictObject({ type: z.literal("passthrough") }).meta({
    title: "Pass-through",
    description: "The credential that the client itself logged in with.",
  }),
  impersonate: z.strictObject({ type: z.literal("impersonate") }).meta({
    title: "Impersonation",
    description: "The service account logs in and asks to act as the user.",
  }),
  tokenExchange: z
    .strictObject({
      type: z.literal("tokenExchange"),
      tokenEndpoint: z
        .string()
        .refine(isTokenEndpoint, "must be an https address, or http on a loopback address")
        .meta({
          title: "Token endpoint",
          description: "Where the client's token is exchanged (RFC 8693).",
          examples: ["https://login.example/oauth2/token"],
        }),
      clientId: text.meta({ title: "Client", description: "The gateway's name at the endpoint." }),
      clientSecret: secretSchema.meta({
        title: "Client secret",
        description: "The gateway's secret at the endpoint.",
        "x-secret": true,
      }),
      targetAudience: text
        .optional()
        .meta({ title: "Audience", description: "For whom the new token is (`audience`)." }),
      scope: text.optional().meta({ title: "Scope", description: "`scope` of the new token." }),
      subjectTokenType: text
        .default("urn:ietf:params:oauth:token-type:access_token")
        .meta({ title: "Kind of token given", description: "`subject_token_type`." }),
      requestedTokenType: text
        .optional()
        .meta({ title: "Kind of token wanted", description: "`requested_token_type`." }),
      clientAuth: z.enum(["post", "basic"]).default("post").meta({
        title: "Client login",
        description: "Whether the client's secret travels in the body or in a header.",
      }),
      timeoutMs: z.int().min(100).max(60_000).default(10_000).meta({
        title: "Time limit",
        description: "How long an exchange may take.",
        "x-unit": "ms",
      }),
    })
    .meta({
      title: "Token exchange",
      description: "A token for the engine, made from the client's own token.",
    }),
} as const;

export type QueryAuth = { [Mode in QueryAuthMode]: z.output<(typeof modes)[Mode]> }[QueryAuthMode];
export type QueryAuthOf<Mode extends QueryAuthMode> = Extract<QueryAuth, { type: Mode }>;
export type TokenExchangeConfig = QueryAuthOf<"tokenExchange">;

/** `queryAuth` with the modes that an engine has; the refusal of another mode lists them. */
export function queryAuthSchema<const Modes extends readonly [QueryAuthMode, ...QueryAuthMode[]]>(
  has: Modes,
): z.ZodOptional<z.ZodType<QueryAuthOf<Modes[number]>>> {
  const [first, ...rest] = has.map((mode) => modes[mode]);
  if (first === undefined) throw new TypeError("every engine has a mode");
  const schema = z
    .discriminatedUnion("type", [first, ...rest], {
      error: ({ code }) =>
        code === "invalid_union" ? `this engine has ${has.join(", ")} only` : undefined,
    })
    .optional()
    .meta({
      title: "Backend identity",
      description: "Which identity the engine sees. Absent: the service account.",
    });
  return schema as unknown as z.ZodOptional<z.ZodType<QueryAuthOf<Modes[number]>>>;
}

/** The client's token and the gateway's secret are sent there. */
function isTokenEndpoint(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password, hash } = new URL(address);
  if (username !== "" || password !== "" || hash !== "") return false;
  const isLoopback =
    hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isLoopback);
}
