/** The audit log. Rows are added and forgotten, never changed. */
import { bigint, index, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import type { Json } from "@gateway/contract/canonical.ts";
import { unixMs } from "./columns.ts";

/** One deed. `id` decides between rows of one moment. */
export const auditLog = pgTable(
  "audit_log",
  {
    id: bigint("id", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    at: unixMs("at").notNull(),
    byName: text("by_name").notNull(),
    address: text("address"),
    action: text("action").notNull(),
    target: text("target").notNull(),
    detail: jsonb("detail").$type<Json>().notNull(),
  },
  (table) => [
    index("audit_log_newest").on(table.at.desc().nullsFirst(), table.id.desc().nullsFirst()),
  ],
);
