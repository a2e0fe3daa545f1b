/**
 * What the deploy step does: migrates, and prepares the first login of an empty database.
 *
 * A function has no terminal to print the one-time set-up token on. It stands in this function's log
 * instead, once, where only operators of the account read; it is void as soon as the first user is
 * made. It is not in the answer, which the deployment keeps.
 */
import { createHash } from "node:crypto";
import type { Database } from "@gateway/control/store/database.ts";
import { migrate, type MigrateRefusal } from "@gateway/control/store/migrate/migrate.ts";
import type { Migration } from "@gateway/control/store/migrate/migration.ts";
import type { UserStore } from "@gateway/control/store/store.ts";
import type { Host } from "@gateway/core/port/host.ts";

export interface DeploymentParts {
  readonly database: Database;
  readonly users: Pick<UserStore, "offerSetup">;
  /** Oldest first. */
  readonly files: readonly Migration[];
  readonly host: Pick<Host, "clock" | "log" | "randomBytes">;
}

export interface Deployed {
  readonly version: string;
  /** Names of the files that this call applied. */
  readonly applied: readonly string[];
}

const tokenBytes = 32;

/** Throws when the database is not as the program needs it: to the platform that is a failed step. */
export async function migrateForDeployment(parts: DeploymentParts): Promise<Deployed> {
  const { database, files, host } = parts;
  const migrated = await migrate(database, files);
  if (!migrated.ok) throw new Error(`not migrated: ${reasonOf(migrated.error)}`);
  const { applied } = migrated.value;
  const version = files.at(-1)?.version ?? "none";
  host.log.write("info", "database.migrated", { version, applied: applied.join(", ") });
  await offerSetup(parts);
  return { version, applied };
}

/** Does nothing where there is a user, or a token was offered before. */
async function offerSetup({ users, host }: DeploymentParts): Promise<void> {
  const token = Buffer.from(host.randomBytes(tokenBytes)).toString("base64url");
  const tokenHash = createHash("sha256").update(token).digest("hex");
  const offered = await users.offerSetup(tokenHash, host.clock.unixMs());
  if (!offered.ok) throw new Error(`no set-up token: ${offered.error.detail}`);
  if (offered.value) host.log.write("info", "admin.setupToken", { token });
}

/** Names files and codes, and repeats no text of the database. */
function reasonOf(refusal: MigrateRefusal): string {
  switch (refusal.code) {
    case "newer":
      return `the database is newer (${refusal.database}) than this program (${refusal.program})`;
    case "changed":
      return `${refusal.name} is another one in the database`;
    case "gap":
      return `${refusal.name} is missing although a later one is there`;
    case "brokenIndex":
      return `the index ${refusal.name} is not valid: its build failed or still runs`;
    case "failed":
      return `${refusal.name} failed (${refusal.error.code})`;
    case "database":
      return `the database did not answer (${refusal.error.code})`;
  }
}
