/**
 * bcrypt on the thread that asks: for the command line, and for a function, where an invocation has the CPU to itself.
 * `compare` and `hash` yield between rounds, so others of the same instance wait but do not stop.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type * as Bcrypt from "bcryptjs";

/** About 70 ms of one core for each comparison. */
export const hashCost = 10;

/** Why a password gets no hash: bcrypt looks at 72 bytes, so a longer one would equal others. */
export type HashRefusal = "empty" | "tooLong";

/** A bcrypt hash with a fresh salt. */
export async function newHash(password: string): Promise<Result<string, HashRefusal>> {
  if (password === "") return err("empty");
  const { hash, truncates } = await library();
  if (truncates(password)) return err("tooLong");
  return ok(await hash(password, hashCost));
}

/** A hash with a fresh salt. bcrypt looks at 72 bytes: the caller has refused longer passwords. */
export async function hashInline(password: string): Promise<string> {
  const { hash } = await library();
  return hash(password, hashCost);
}

export async function matchesInline(password: string, stored: string): Promise<boolean> {
  const { compare } = await library();
  return compare(password, stored);
}

/** Loaded for the first password: a function that only answers workers meets none. */
function library(): Promise<typeof Bcrypt> {
  return import("bcryptjs");
}
