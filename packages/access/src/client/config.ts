/** The `auth` section: who the client is. */
import { attributeName } from "@gateway/contract/config/attribute.ts";
import { secretReferenceSchema } from "@gateway/contract/config/secret.ts";
import { z } from "zod";
import { ldapSchema } from "./ldap/config.ts";
import { oidcSchema } from "./oidc/config.ts";
import { foldedName, readPublicKey } from "./static/config.ts";

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

const keyText = z
  .string()
  .max(4_096)
  .refine(
    (text) => readPublicKey(text) !== undefined,
    "must be an RSA public key of 2048 to 8192 bits, as PEM or its base64 alone",
  );

const attributeValue = z.string().min(1).max(256);

const staticUser = z.strictObject({
  passwordHash: passwordHash.optional(),
  scramVerifier: scramVerifier.optional(),
  rsaPublicKey: keyText.optional().meta({
    title: "Public key",
    description:
      "RSA public key that verifies the user's logins by key pair, which the Snowflake listener takes; such a login leaves no credential to pass through.",
  }),
  rsaPublicKey2: keyText.optional().meta({
    title: "Second public key",
    description: "Taken like the first one, so that keys can be changed one after the other.",
  }),
  groups: z.array(z.string().min(1)).default([]).meta({
    title: "Groups",
    description: "Groups of the user, for allow lists and routing.",
  }),
  roles: z
    .array(z.string().min(1))
    .default([])
    .meta({ title: "Roles", description: "Roles of the user." }),
  attributes: z
    .record(attributeName, z.union([attributeValue, z.array(attributeValue).max(1_000)]))
    .optional()
    .meta({
      title: "Attributes",
      description:
        "What access control may know of the user beside them: texts, or lists of texts.",
      examples: [{ region: "EU" }],
    }),
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

interface StaticUsers {
  readonly account?: string | undefined;
  readonly users: Readonly<Record<string, z.output<typeof staticUser>>>;
}

/** Each user can log in somehow, and a token of a key pair means one account and one user. */
function checkStaticUsers({ account, users }: StaticUsers, context: z.RefinementCtx): void {
  const refuse = (path: string[], message: string): void => {
    context.addIssue({ code: "custom", path, message });
  };
  const owners = new Map<string, string>();
  for (const [name, user] of Object.entries(users)) {
    const hasKey = user.rsaPublicKey !== undefined || user.rsaPublicKey2 !== undefined;
    if (!hasKey && user.passwordHash === undefined) {
      refuse(["users", name, "passwordHash"], "is required for a user without a public key");
    }
    if (!hasKey) continue;
    if (account === undefined) {
      refuse(["account"], "is required where users have public keys");
      return;
    }
    const same = owners.get(foldedName(name));
    if (same !== undefined) {
      refuse(
        ["users", name, "rsaPublicKey"],
        "tokens of key pairs tell no capitals apart: another user with a key has this name",
      );
    }
    owners.set(foldedName(name), name);
  }
}

const staticProvider = z
  .strictObject({
    provider: z.literal("static"),
    required: required.default(true),
    staticUsers: z
      .strictObject({
        account: z
          .string()
          .regex(/^[A-Za-z0-9_-]+$/, "must be a name without dots, as drivers write it in tokens")
          .max(128)
          .optional()
          .meta({
            title: "Account",
            description:
              "Account that a login by key pair must be meant for; drivers of Snowflake are told it as theirs. Tokens for another one are refused.",
          }),
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
      .superRefine(checkStaticUsers)
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
