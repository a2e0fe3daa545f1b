/** `gateway.adminApi.signOn`: where administrators sign on, and which of their groups may do what. */
import { secretSchema } from "@gateway/contract/config/secret.ts";
import { z } from "zod";
import { claimSchema, trustedUrl } from "../client/oidc/config.ts";

const groups = z.array(z.string().min(1).max(256)).max(1_000).default([]);

export const signOnSchema = z
  .strictObject({
    title: z.string().min(1).max(64).default("Company account").meta({
      title: "Title",
      description: "What the button of the console says.",
    }),
    issuer: trustedUrl.meta({
      title: "Issuer",
      description: "The provider, exactly as its discovery document and its tokens name it.",
      examples: ["https://id.example.com/realms/main"],
    }),
    clientId: z.string().min(1).max(1_024).meta({
      title: "Client id",
      description: "The client that the provider knows this control plane as.",
    }),
    clientSecret: secretSchema.optional().meta({
      title: "Client secret",
      description: "Absent for a public client, which PKCE alone protects.",
      "x-secret": true,
    }),
    publicUrl: trustedUrl.meta({
      title: "Public address",
      description:
        "Address of the admin listener as browsers reach it. The provider has to allow /admin/sign-on/oidc/callback below it as redirect URI.",
      examples: ["https://gateway.example.com"],
    }),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/, "must be a scope"))
      .default(["profile"])
      .meta({ title: "Scopes", description: "Asked for beside openid." }),
    usernameClaim: claimSchema.default("sub").meta({
      title: "User name claim",
      description: "Claim of the ID token with the name. Take one that users can not change.",
    }),
    groupsClaim: claimSchema.default("groups").meta({
      title: "Groups claim",
      description: "Claim of the ID token with the groups, as a list or one text.",
    }),
    roles: z
      .strictObject({
        admin: groups.meta({ title: "Admins", description: "Groups whose members are admins." }),
        operator: groups.meta({ title: "Operators", description: "Groups of operators." }),
        viewer: groups.meta({ title: "Viewers", description: "Groups of viewers." }),
      })
      .meta({
        title: "Roles",
        description: "The strongest that a group gives counts; who is in none of them is refused.",
      }),
    caFile: z.string().min(1).optional().meta({
      title: "CA file",
      description: "PEM file of the authorities to trust for the provider.",
      "x-file-path": true,
    }),
    timeoutMs: z.int().min(100).max(60_000).default(5_000).meta({
      title: "Timeout",
      description: "How long the provider may take to answer.",
      "x-unit": "milliseconds",
    }),
  })
  .meta({
    title: "Sign-on of administrators",
    description:
      "OpenID Connect, authorization code with PKCE. Users are made with their first sign-on and take the role of their groups with each.",
  });

export type SignOnConfig = z.output<typeof signOnSchema>;
