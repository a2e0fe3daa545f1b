/** A secret in the config: the value itself, or where the process finds it. Never expanded from the environment in any other field. */
import { z } from "zod";

/** Where the process finds a secret. Start replaces it by the secret before anything uses the config. */
export const secretReferenceSchema = z.strictObject({
  secretRef: z
    .string()
    .regex(/^(env:[A-Za-z_][A-Za-z0-9_]*|file:\/.+)$/, "must be env:NAME or file:/path")
    .meta({
      title: "Secret reference",
      description: "env:NAME or file:/path; resolved in the process that uses it.",
    }),
});

export const secretSchema = z
  .union([z.string().min(1), secretReferenceSchema])
  .meta({ "x-secret": true });

export type SecretConfig = z.output<typeof secretSchema>;

/** The secret itself, in a config whose references were resolved. Anything else is a bug. */
export function secretText(secret: SecretConfig): string {
  if (typeof secret === "string") return secret;
  throw new TypeError("a secret reference that nobody resolved");
}
