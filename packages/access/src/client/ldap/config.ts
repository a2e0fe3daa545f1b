/** `auth.ldap`: the directory, how a user is found in it, and how its groups are. */
import { attributeName } from "@gateway/contract/config/attribute.ts";
import { secretSchema } from "@gateway/contract/config/secret.ts";
import { z } from "zod";

/** The user's name must be a whole value of the filter: beside a `*` it would match other users. */
const userFilter = z
  .string()
  .min(1)
  .max(1_024)
  .refine(
    (filter) => filter.includes("={})") && !/[^=]\{\}|\{\}[^)]/.test(filter),
    "must compare with the user's name as (attribute={})",
  )
  .refine(isBalanced, "has parentheses that do not match");

const groupFilter = z
  .string()
  .min(1)
  .max(1_024)
  .refine(
    (filter) => /=\{(dn)?\}\)/.test(filter) && !/[^=]\{(dn)?\}|\{(dn)?\}[^)]/.test(filter),
    "must compare with the user as (attribute={dn}) or (attribute={})",
  )
  .refine(isBalanced, "has parentheses that do not match");

const fields = {
  url: z.url({ protocol: /^ldaps?$/, message: "must be an ldap or ldaps URL" }).meta({
    title: "Directory",
    description: "ldap://host:port or ldaps://host:port.",
    examples: ["ldaps://directory.example.com"],
  }),
  startTls: z.boolean().default(false).meta({
    title: "StartTLS",
    description: "Encrypt an ldap connection before anything is said on it.",
  }),
  allowCleartext: z.boolean().default(false).meta({
    title: "Allow clear text",
    description: "Send passwords to another machine without TLS.",
  }),
  caFile: z.string().min(1).optional().meta({
    title: "CA file",
    description: "PEM file of the authorities to trust. Absent: those of the system.",
    "x-file-path": true,
  }),
  bindDn: z
    .string()
    .min(1)
    .optional()
    .meta({
      title: "Search account",
      description: "Name that searches are done as. Absent: they are done without a login.",
      examples: ["cn=gateway,dc=example,dc=com"],
    }),
  bindPassword: secretSchema.optional().meta({
    title: "Password of the search account",
    description: "Goes with bindDn.",
    "x-secret": true,
  }),
  userSearchBase: z
    .string()
    .min(1)
    .optional()
    .meta({
      title: "Users",
      description: "Where users are searched. Either this or userDnTemplate.",
      examples: ["ou=people,dc=example,dc=com"],
    }),
  userSearchFilter: userFilter.default("(uid={})").meta({
    title: "User filter",
    description:
      "What a user's entry matches; {} is the name. A user is called as the first compared attribute of the entry says. A login by a certificate asks for no password, so a filter that also leaves out locked accounts keeps those out.",
  }),
  userDnTemplate: z
    .string()
    .max(1_024)
    .regex(/^[A-Za-z][A-Za-z0-9-]*=\{\},[^{}]+$/, "must be a name like uid={},ou=people,dc=example")
    .optional()
    .meta({
      title: "User name template",
      description:
        "The entry's name, {} is the user's. Users log in without a search, and are called by their name in lower case.",
      examples: ["uid={},ou=people,dc=example,dc=com"],
    }),
  groupSearchBase: z.string().min(1).optional().meta({
    title: "Groups",
    description: "Where groups are searched. Absent: users have no groups.",
  }),
  groupSearchFilter: groupFilter.default("(member={dn})").meta({
    title: "Group filter",
    description: "What an entry of a user's group matches; {dn} is the user's entry, {} the name.",
  }),
  groupNameAttribute: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]*$/, "must be the name of an attribute")
    .default("cn")
    .meta({ title: "Group name", description: "Attribute of a group's entry that is its name." }),
  attributes: z
    .record(
      attributeName,
      z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,127}$/, "must be the name of an attribute"),
    )
    .refine((attributes) => Object.keys(attributes).length <= 50, "must be 50 attributes at most")
    .optional()
    .meta({
      title: "Attributes",
      description:
        "Attributes of the user for access control, each with the attribute of the user's entry that holds it. Take those that users can not change themselves.",
      examples: [{ region: "l" }],
    }),
  timeoutMs: z.int().min(100).max(60_000).default(5_000).meta({
    title: "Timeout",
    description: "How long a login may take in the directory.",
    "x-unit": "milliseconds",
  }),
  poolSize: z.int().min(1).max(64).default(4).meta({
    title: "Pool size",
    description: "Connections to the directory; further logins wait.",
    "x-unit": "connections",
  }),
} as const;

export const ldapSchema = z
  .strictObject(fields)
  .superRefine((config, context) => {
    for (const [key, message] of problemsOf(config)) {
      context.addIssue({ code: "custom", path: [key], message });
    }
  })
  .meta({ title: "LDAP", description: "The directory that knows the users." });

export type LdapConfig = z.output<typeof ldapSchema>;

function problemsOf(
  config: z.output<z.ZodObject<typeof fields>>,
): readonly (readonly [string, string])[] {
  if (!URL.canParse(config.url)) return [];
  const { protocol, hostname, pathname, search } = new URL(config.url);
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const isClear = protocol === "ldap:" && !config.startTls;
  const rules: readonly (readonly [boolean, string, string])[] = [
    [!/^\/?$/.test(pathname) || search !== "", "url", "must be a scheme, a host and a port only"],
    [protocol === "ldaps:" && config.startTls, "startTls", "ldaps is encrypted from the start"],
    [
      isClear && !isLoopback && !config.allowCleartext,
      "url",
      "passwords would travel in clear; use ldaps, startTls or say allowCleartext",
    ],
    [
      (config.bindDn === undefined) !== (config.bindPassword === undefined),
      config.bindDn === undefined ? "bindDn" : "bindPassword",
      "bindDn and bindPassword go together",
    ],
    [
      (config.userSearchBase === undefined) === (config.userDnTemplate === undefined),
      "userSearchBase",
      "either userSearchBase or userDnTemplate must be written",
    ],
  ];
  return rules.flatMap(([broken, key, message]) => (broken ? [[key, message]] : []));
}

function isBalanced(filter: string): boolean {
  let depth = 0;
  for (const character of filter) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0 && filter.startsWith("(") && filter.endsWith(")");
}
