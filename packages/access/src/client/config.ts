/** The `auth` section: who the client is. */
import { notBuilt, notBuiltVariant } from "@gateway/contract/config/notBuilt.ts";
import { secretReferenceSchema } from "@gateway/contract/config/secret.ts";
import { z } from "zod";

const bcryptHash = z
  .string()
  .regex(
    /^\$2[aby]\$(0[4-9]|1[0-9]|2[0-9]|3[01])\$[./A-Za-z0-9]{53}$/,
    "must be a bcrypt hash; make one with `gateway hash-password`",
  );

const passwordHash = z.union([bcryptHash, secretReferenceSchema]).meta({
  title: "Password hash",
  description: "bcrypt hash of the password, or where to find it; plain text is refused.",
  "x-secret": true,
});

const staticUser = z.strictObject({
  passwordHash,
  scramVerifier: notBuilt("SCRAM logins").optional(),
  groups: z.array(z.string().min(1)).default([]).meta({
    title: "Groups",
    description: "Groups of the user, for allow lists and routing.",
  }),
  roles: z
    .array(z.string().min(1))
    .default([])
    .meta({ title: "Roles", description: "Roles of the user." }),
});

const operators = {
  operatorGroups: z.array(z.string().min(1)).default([]).meta({
    title: "Operator groups",
    description: "Members may cancel queries of others.",
  }),
  operatorRoles: z.array(z.string().min(1)).default([]).meta({
    title: "Operator roles",
    description: "Holders may cancel queries of others.",
  }),
};

const required = z.boolean().meta({
  title: "Required",
  description: "Refuse unauthenticated requests on every enabled frontend.",
});

const none = z
  .strictObject({
    provider: z.literal("none"),
    required: z
      .literal(false, "provider none verifies nobody, so it can not be required")
      .default(false)
      .meta({ title: "Required", description: "Provider none verifies nobody." }),
    ...operators,
  })
  .meta({
    title: "No verification",
    description: "A client is whoever it says. For development, or behind a trusted network path.",
  });

const staticProvider = z
  .strictObject({
    provider: z.literal("static"),
    required: required.default(true),
    staticUsers: z
      .strictObject({
        users: z
          .record(
            z
              .string()
              .min(1)
              .max(128)
              .refine((name) => name !== "anonymous", "anonymous is a reserved name"),
            staticUser,
          )
          .meta({ title: "Users", description: "User name to password hash, groups and roles." }),
      })
      .meta({ title: "Static users", description: "A small fixed set of users." }),
    ...operators,
  })
  .meta({
    title: "Static users",
    description: "Passwords are checked against hashes in the config.",
  });

/** `auth` of the config. */
export const authSchema = z
  .discriminatedUnion("provider", [
    none,
    staticProvider,
    notBuiltVariant("provider", "oidc", "OpenID Connect"),
    notBuiltVariant("provider", "ldap", "LDAP"),
  ])
  .meta({ title: "Client authentication", description: "Who the client is." });

export type AuthConfig = Extract<z.output<typeof authSchema>, { provider: "none" | "static" }>;
export type StaticUser = z.output<typeof staticUser>;
