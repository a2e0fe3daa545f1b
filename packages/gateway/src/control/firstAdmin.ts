/** How the first user of the admin API comes to be: from the config, or by a one-time token that is printed. */
import { createHash } from "node:crypto";
import type { PasswordHasher } from "@gateway/control/deps.ts";
import type { Store } from "@gateway/control/store/store.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { GatewayConfig } from "../config/schema.ts";
import { plainSecret } from "../config/secrets.ts";
import { passwordCharsMin } from "./passwords.ts";

export interface FirstAdminParts {
  readonly store: Store;
  readonly passwords: PasswordHasher;
  readonly host: Pick<Host, "clock" | "randomBytes">;
}

/** The set-up token to print; undefined when there is a user already, or one was just made. */
export async function firstAdmin(
  { firstAdmin: wanted }: GatewayConfig["adminApi"],
  { store, passwords, host }: FirstAdminParts,
): Promise<Result<string | undefined, string>> {
  const count = await store.users.count();
  if (!count.ok) return err(`the database is not available (${count.error.detail})`);
  if (count.value > 0) return ok(undefined);
  const nowMs = host.clock.unixMs();
  if (wanted === undefined) return offerSetup(store, host);
  const password = plainSecret(wanted.password).reveal();
  if (password.length < passwordCharsMin) {
    return err(
      `gateway.adminApi.firstAdmin.password: has fewer than ${passwordCharsMin} characters`,
    );
  }
  const user = {
    name: wanted.name,
    role: "admin",
    passwordHash: await passwords.hash(password),
    disabled: false,
    version: 1,
    createdAt: nowMs,
    updatedAt: nowMs,
  } as const;
  // Another replica may have been first; its user is the same.
  const put = await store.users.put(user, undefined);
  return put.ok ? ok(undefined) : err(`the database is not available (${put.error.detail})`);
}

async function offerSetup(
  store: Store,
  { clock, randomBytes }: FirstAdminParts["host"],
): Promise<Result<string | undefined, string>> {
  const token = Buffer.from(randomBytes(32)).toString("base64url");
  const tokenHash = createHash("sha256").update(token).digest("hex");
  const offered = await store.users.offerSetup(tokenHash, clock.unixMs());
  if (!offered.ok) return err(`the database is not available (${offered.error.detail})`);
  // A token that was printed before still counts; it can not be shown again.
  return ok(offered.value ? token : undefined);
}
