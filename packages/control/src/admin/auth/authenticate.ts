/**
 * Finds out who asks: Basic for tools, the session cookie for Studio. Nothing else is a credential
 * here, above all not the fleet secret of the worker API.
 *
 * While the database is down nobody can be looked up; who was confirmed within the last minute may
 * read on (`confirmed` false), everybody else gets 503.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Context } from "hono";
import type { ControlDeps } from "../../deps.ts";
import { tokenHashOf } from "../../http/secretCompare.ts";
import { retryAfterOf } from "../../http/throttle.ts";
import type { AdminUser } from "../../store/store.ts";
import { refuse, unavailable } from "../refuse.ts";
import type { Admin } from "./admin.ts";
import { sessionCookie, sessionIdleMs } from "./cookie.ts";
import { loginMemory } from "./memory.ts";
import { passwordsOf, type PasswordRefusal, type Passwords } from "./passwords.ts";

/** Longest `Authorization` that is looked at. */
const headerMax = 4_096;

/** The family that logins of queries count in, said again: importing it would bring the whole data plane into a function. */
const failuresFamily = {
  name: "gateway_auth_failures_total",
  help: "Refused logins.",
  labels: ["frontend", "reason"],
} as const;

export interface Access {
  readonly passwords: Passwords;
  /** Who sends this request, or the answer for somebody unknown. */
  authenticate(c: Context): Promise<Result<Admin, Response>>;
  /** The answer to a refused password; counted and logged, without the name that was tried. */
  refused(c: Context, refusal: PasswordRefusal): Response;
}

export function accessOf(deps: ControlDeps): Access {
  const { clock, store, log, metrics } = deps;
  const memory = loginMemory(clock, deps.randomBytes(32));
  const passwords = passwordsOf(deps, memory);
  const failures = metrics.counter(failuresFamily, {
    frontend: "adminApi",
    reason: "auth.refused",
  });

  function refused(c: Context, refusal: PasswordRefusal): Response {
    if (refusal.code === "unavailable") return unavailable();
    failures.add(1);
    log.write("warn", "admin.loginRefused", {
      code: refusal.code,
      address: deps.caller(c.req.raw).address,
    });
    return refusal.code === "refused" ? unknownCaller(c) : tooMany(refusal.retryAfterMs);
  }

  async function basic(c: Context, header: string): Promise<Result<Admin, Response>> {
    const { address } = deps.caller(c.req.raw);
    const presented = header.length > headerMax ? undefined : basicOf(header);
    if (presented === undefined) return err(refused(c, { code: "refused" }));
    const verified = await passwords.verify({ ...presented, address });
    if (!verified.ok) return err(refused(c, verified.error));
    const { user, confirmed } = verified.value;
    return ok(adminFor(user, { address, via: "basic", sessionHash: undefined, confirmed }));
  }

  async function session(c: Context, value: string): Promise<Result<Admin, Response>> {
    const { address } = deps.caller(c.req.raw);
    const key = memory.keyOf("session", value);
    const sessionHash = tokenHashOf(value);
    const found = await store.users.session(sessionHash, clock.unixMs(), sessionIdleMs);
    if (!found.ok) {
      const remembered = memory.find(key);
      if (remembered === undefined) return err(unavailable());
      return ok(adminFor(remembered, { address, via: "session", sessionHash, confirmed: false }));
    }
    if (found.value === undefined) {
      memory.forget(key);
      return err(unknownCaller(c));
    }
    const { user } = found.value;
    memory.keep(key, user);
    return ok(adminFor(user, { address, via: "session", sessionHash, confirmed: true }));
  }

  return {
    passwords,
    refused,
    authenticate: async (c) => {
      const header = c.req.header("authorization");
      if (header !== undefined) return basic(c, header);
      const cookie = sessionCookie(c, deps.caller(c.req.raw).secure);
      return cookie === undefined ? err(unknownCaller(c)) : session(c, cookie);
    },
  };
}

/** A browser that is told `Basic` shows its own login over Studio's, so only tools are told. */
function unknownCaller(c: Context): Response {
  const browser = c.req.header("sec-fetch-site") !== undefined;
  const challenge = browser ? "Session" : 'Basic realm="gateway", charset="UTF-8"';
  const detail = "Log in, or send a user of the admin API with Basic authentication.";
  return refuse(401, { code: "unauthorized", detail }, { "www-authenticate": challenge });
}

function tooMany(retryAfterMs: number): Response {
  const detail = "Too many wrong passwords.";
  const headers = { "retry-after": retryAfterOf(retryAfterMs) };
  return refuse(429, { code: "tooManyAttempts", detail }, headers);
}

function adminFor(user: AdminUser, how: Omit<Admin, "name" | "role">): Admin {
  return { name: user.name, role: user.role, ...how };
}

/** RFC 7617 §2. Undefined for another scheme, and for what is no Base64 of UTF-8 with a colon. */
function basicOf(header: string): { name: string; password: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  const text = bytes.toString("utf8");
  const colon = text.indexOf(":");
  // A replacement character would make several passwords one, and a database has no NUL.
  if (colon < 1 || !Buffer.from(text, "utf8").equals(bytes) || text.includes("\0"))
    return undefined;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
