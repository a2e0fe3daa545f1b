/**
 * bcrypt on the thread that asks, for a host without threads: a function, where an invocation has the
 * CPU to itself. It yields between rounds, so others of the same instance wait but do not stop.
 */
import { compare, hash } from "bcryptjs";
import { hashCost } from "./newHash.ts";

/** A hash with a fresh salt. bcrypt looks at 72 bytes: the caller has refused longer passwords. */
export function hashInline(password: string): Promise<string> {
  return hash(password, hashCost);
}

export function matchesInline(password: string, stored: string): Promise<boolean> {
  return compare(password, stored);
}
