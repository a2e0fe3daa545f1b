/** The `auth` section: who the client is. */
import { secretReferenceSchema } from "@gateway/contract/config/secret.ts";
import { z } from "zod";
import { ldapSchema } from "./ldap/config.ts";
import { oidcSchema } from "./oidc/config.ts";

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

const scramText = z
  .string()
  .regex(
    /^SCRAM-SHA-256\$[1-9]\d{0,8}:[A-Za-z0-9+/]{4,}={0,2}\$[A-Za-z0-9+/]{43}=:[A-Za-z0-9+/]{43}=$/,
    "must be a SCRAM-SHA-256 verifier; make one with `gateway hash-password --scram`",
  );

const scramVerifier = z.union([scramText, secretReferenceSchema]).meta({
  title: "SCRAM verifier",
  description:
    "SCRAM-SHA-256 verifier of the same password, as PostgreSQL writes it, or where to find it. The PostgreSQL listener then never sees the password; a login by it has none to pass through.",
  "x-secret": true,
});

const staticUser = z.strictObject({
  passwordHash,
  scramVerifier: scramVerifier.optional(),
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

const oidcProvider = z
  .strictObject({
    provider: z.literal("oidc"),
    required: required.default(true),
    oidc: oidcSchema,
    ...operators,
  })
  .meta({
    title: "OpenID Connect",
    description:
      "Clients show access tokens of a provider; where a protocol has passwords only, as the password.",
  });

const ldapProvider = z
  .strictObject({
    provider: z.literal("ldap"),
    required: required.default(true),
    sessionMaxSecs: z.int().min(1).max(86_400).default(3_600).meta({
      title: "Session length",
      description: "After this a session must log in again, so that the directory is asked again.",
      "x-unit": "seconds",
    }),
    ldap: ldapSchema,
    ...operators,
  })
  .meta({ title: "LDAP", description: "Passwords are checked by a directory." });

/** `auth` of the config. */
export const authSchema = z
  .discriminatedUnion("provider", [none, staticProvider, oidcProvider, ldapProvider])
  .meta({ title: "Client authentication", description: "Who the client is." });

export type AuthConfig = z.output<typeof authSchema>;
export type StaticUser = z.output<typeof staticUser>;
