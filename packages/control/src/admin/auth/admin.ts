/** Who asks: a user of the admin API, as one request has shown it. */
import type { Context } from "hono";
import { adminRoles, type AdminRole } from "../../store/store.ts";

export interface Admin {
  readonly name: string;
  readonly role: AdminRole;
  readonly address: string;
  readonly via: "basic" | "session";
  /** SHA-256 of the cookie's value; undefined for Basic. */
  readonly sessionHash: string | undefined;
  /** False while the database is down and this login is only remembered: it may read, nothing else. */
  readonly confirmed: boolean;
}

/** Variables of a request to the admin API. */
export interface AdminEnv {
  Variables: { admin: Admin };
}

/** Each role may do what the one before it may. */
export function allows(role: AdminRole, needed: AdminRole): boolean {
  return adminRoles.indexOf(role) >= adminRoles.indexOf(needed);
}

/** The admin that the guard has let through. A route without a guard that asks for it is a bug. */
export function adminOf(c: Context<AdminEnv>): Admin {
  const admin: Admin | undefined = c.get("admin");
  if (admin === undefined) throw new Error("a route without a guard asked who calls");
  return admin;
}
