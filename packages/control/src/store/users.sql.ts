/** Tables of the admin API's users. Secrets are here as hashes only. */
import { sql } from "drizzle-orm";
import { bigint, check, index, pgTable, text } from "drizzle-orm/pg-core";
import { flag, key, unixMs } from "./columns.ts";
import type { AdminRole } from "./store.ts";

/** Who may use the admin API. */
export const adminUsers = pgTable("admin_users", {
  name: key("name").primaryKey(),
  role: text("role").$type<AdminRole>().notNull(),
  passwordHash: text("password_hash").notNull(),
  disabled: flag("disabled").notNull(),
  version: bigint("version", { mode: "number" }).notNull(),
  createdAt: unixMs("created_at").notNull(),
  updatedAt: unixMs("updated_at").notNull(),
});

/** Log-ins that have not ended. They go with their user, so that a new one of that name has none. */
export const adminSessions = pgTable(
  "admin_sessions",
  {
    idHash: key("id_hash").primaryKey(),
    userName: key("user_name")
      .notNull()
      .references(() => adminUsers.name, { onDelete: "cascade" }),
    createdAt: unixMs("created_at").notNull(),
    lastSeenAt: unixMs("last_seen_at").notNull(),
    expiresAt: unixMs("expires_at").notNull(),
    address: text("address").notNull(),
  },
  (table) => [
    index("admin_sessions_user").on(table.userName),
    index("admin_sessions_expiry").on(table.expiresAt),
  ],
);

/** The one-time set-up token, while nobody has redeemed it. At most one row. */
export const adminSetup = pgTable(
  "admin_setup",
  {
    onlyRow: flag("only_row").primaryKey().default(true),
    tokenHash: text("token_hash").notNull(),
    createdAt: unixMs("created_at").notNull(),
  },
  (table) => [check("admin_setup_only_row", sql`${table.onlyRow}`)],
);
