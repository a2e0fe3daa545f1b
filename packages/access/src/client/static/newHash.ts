/** Makes the password hashes that a config holds. For the command line: it takes the thread it runs on. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { hash, truncates } from "bcryptjs";

/** About 70 ms of one core for each comparison. */
export const hashCost = 10;

/** Why a password gets no hash: bcrypt looks at 72 bytes, so a longer one would equal others. */
export type HashRefusal = "empty" | "tooLong";

/** A bcrypt hash with a fresh salt. */
export async function newHash(password: string): Promise<Result<string, HashRefusal>> {
  if (password === "") return err("empty");
  if (truncates(password)) return err("tooLong");
  return ok(await hash(password, hashCost));
}
