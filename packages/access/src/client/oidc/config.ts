/** `auth.oidc`: whose tokens are believed, and which claims say who the user is. */
import { z } from "zod";
import { attributeName } from "@gateway/contract/config/attribute.ts";

/** The name of a claim, or the way to it. */
export const claimSchema = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^.]+(\.[^.]+)*$|:\/\//, "must be a claim's name, or names with dots between them");

/** Keys must not come over a network on which others can write. */
export const trustedUrl = z
  .string()
  .max(2_048)
  .refine(isTrusted, "must be an https URL: tokens are only as good as the way their keys came");

export const oidcSchema = z
  .strictObject({
    issuer: trustedUrl.meta({
      title: "Issuer",
      description:
        "The provider, exactly as tokens name it in `iss`. Its discovery document says where the keys are, unless jwksUri does.",
      examples: ["https://id.example.com/realms/main"],
    }),
    jwksUri: trustedUrl.optional().meta({
      title: "Keys",
      description: "Where the signing keys are. Absent: what the discovery document says.",
    }),
    audience: z.string().min(1).max(1_024).meta({
      title: "Audience",
      description: "A token must name exactly this in `aud`, alone or in its list.",
    }),
    usernameClaim: claimSchema.default("sub").meta({
      title: "User name claim",
      description:
        "Claim with the name of the user. Dots lead into nested claims. Take one that users can not change themselves.",
    }),
    groupsClaim: claimSchema.optional().meta({
      title: "Groups claim",
      description:
        "Claim with the groups, as a list or one text. Dots lead into nested claims. Absent: no groups.",
      examples: ["groups"],
    }),
    rolesClaim: claimSchema.optional().meta({
      title: "Roles claim",
      description:
        "Claim with the roles, as a list or one text. Dots lead into nested claims. Absent: no roles.",
      examples: ["realm_access.roles"],
    }),
    attributeClaims: z
      .record(attributeName, claimSchema)
      .refine((claims) => Object.keys(claims).length <= 50, "must be 50 attributes at most")
      .optional()
      .meta({
        title: "Attribute claims",
        description:
          "Attributes of the user for access control, each with the claim that holds it: a text, a number, a truth value, or a list of them. Dots lead into nested claims. Take claims that users can not change themselves.",
        examples: [{ region: "address.region" }],
      }),
    caFile: z.string().min(1).optional().meta({
      title: "CA file",
      description:
        "PEM file of the authorities to trust for the provider. Absent: those of the system.",
      "x-file-path": true,
    }),
    timeoutMs: z.int().min(100).max(60_000).default(5_000).meta({
      title: "Timeout",
      description: "How long the provider may take to answer.",
      "x-unit": "milliseconds",
    }),
  })
  .meta({ title: "OpenID Connect", description: "The provider whose tokens are believed." });

export type OidcConfig = z.output<typeof oidcSchema>;

/** Loopback is the one network on which nobody else writes. */
function isTrusted(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, hash } = new URL(text);
  if (username !== "" || hash !== "") return false;
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isLoopback);
}
