/** `authorization`: who may use which cluster group, beside the allow lists at the groups. */
import { secretSchema } from "@gateway/contract/config/secret.ts";
import { z } from "zod";

const none = z
  .strictObject({
    provider: z
      .literal("none")
      // Optional: only then the union finds this member where the word is absent.
      .optional()
      .default("none")
      .meta({
        title: "Provider",
        description: "Leaves the allow lists of the groups alone in force.",
      }),
  })
  .meta({ title: "Allow lists", description: "The allow lists of the groups decide alone." });

const word = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

const openfga = z
  .strictObject({
    url: z
      .string()
      .max(2_048)
      .refine(isHttp, "must be an http or https URL")
      .meta({
        title: "Server",
        description: "Base address of the OpenFGA HTTP API.",
        examples: ["https://openfga.example.com"],
      }),
    storeId: z.string().regex(word, "must be the id of a store").meta({
      title: "Store",
      description: "Id of the store that holds the relations.",
    }),
    authorizationModelId: z.string().regex(word, "must be the id of a model").optional().meta({
      title: "Model",
      description: "Id of the model that checks are judged by. Absent: the newest of the store.",
    }),
    groupType: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,63}$/, "must be the name of a type")
      .default("team")
      .meta({
        title: "Type of groups",
        description:
          "Type in the model that stands for a group of users; each check says that the user is a `member` of its groups.",
      }),
    credentials: z
      .strictObject({
        bearer: secretSchema.meta({
          title: "Bearer token",
          description: "A key that the server was preset with.",
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
      description: "How long a check may take; after it the answer is no.",
      "x-unit": "milliseconds",
    }),
    cacheTtlMs: z.int().min(0).max(300_000).default(5_000).meta({
      title: "Cache",
      description: "How long a yes is remembered. A no never is; 0 remembers nothing.",
      "x-unit": "milliseconds",
    }),
  })
  .refine(({ url, credentials }) => credentials === undefined || isSafe(url), {
    path: ["url"],
    error: "must be https, because credentials are sent",
  })
  .meta({ title: "OpenFGA", description: "The server that is asked, and the store in it." });

const openfgaProvider = z
  .strictObject({
    provider: z.literal("openfga").meta({
      title: "Provider",
      description: "Asks OpenFGA for the relation `reader` of the user to the cluster group.",
    }),
    openfga,
  })
  .meta({
    title: "OpenFGA",
    description: "Both the allow lists and OpenFGA must let a caller in.",
  });

export const authorizationWords = {
  title: "Authorization",
  description: "Which cluster groups a caller may use.",
};

/** `authorization` of the config. An absent provider is `none`. */
export const authorizationSchema = z
  .discriminatedUnion("provider", [none, openfgaProvider])
  .meta(authorizationWords);

export type OpenFgaConfig = z.output<typeof openfga>;

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
