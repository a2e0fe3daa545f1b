/** A user of the admin API as the API shows and takes it. The password goes in and never comes out. */
import { z } from "zod";
import { adminRoles, type AdminUser } from "../../store/store.ts";
import { passwordBytesMax } from "../auth/passwords.ts";
import { unixMs } from "../shapes.ts";

/** `host` and `file` stand in audit rows for what no user did. */
const reserved: readonly string[] = ["host", "file"];

export const userName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/, "must be letters, digits or . _ @ -")
  .refine((name) => !reserved.includes(name), "is a reserved name");

export const newPassword = z
  .string()
  .min(12)
  .max(passwordBytesMax)
  .refine((text) => Buffer.byteLength(text, "utf8") <= passwordBytesMax, "must be at most 72 bytes")
  .meta({ title: "Password", description: "12 characters to 72 bytes.", "x-secret": true });

/** Any text that somebody may try. */
export const triedPassword = z.string().min(1).max(1_024).meta({ "x-secret": true });

export const roleSchema = z.enum(adminRoles);

export const userSchema = z.strictObject({
  name: z.string(),
  role: roleSchema,
  disabled: z.boolean(),
  version: z.int().meta({ description: "The ETag, without its quotes." }),
  createdAt: unixMs,
  updatedAt: unixMs,
});

export function userView({ name, role, disabled, version, createdAt, updatedAt }: AdminUser) {
  return { name, role, disabled, version, createdAt, updatedAt };
}
