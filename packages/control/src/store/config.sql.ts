/**
 * Tables of the configuration. One table for objects of every kind, so that one statement writes any
 * set of them; the shapes inside `body` belong to the zod schemas.
 */
import { sql } from "drizzle-orm";
import { bigint, check, integer, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import type { Json } from "@gateway/contract/canonical.ts";
import { bytes, flag, key, unixMs } from "./columns.ts";
import type { DocumentKind } from "./store.ts";

/** The newest revision. One row, which every commit compares and moves. */
export const configHead = pgTable(
  "config_head",
  {
    onlyRow: flag("only_row").primaryKey().default(true),
    epoch: bigint("epoch", { mode: "number" }).notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    revision: text("revision").notNull(),
  },
  (table) => [check("config_head_only_row", sql`${table.onlyRow}`)],
);

/** Objects as they were written, their secrets sealed. */
export const configDocuments = pgTable(
  "config_documents",
  {
    kind: key("kind").$type<DocumentKind>().notNull(),
    name: key("name").notNull(),
    body: jsonb("body").$type<Json>().notNull(),
    version: bigint("version", { mode: "number" }).notNull(),
    keyIds: text("key_ids").array().notNull(),
    updatedAt: unixMs("updated_at").notNull(),
    updatedBy: text("updated_by").notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.name] })],
);

/** Every snapshot that was built and not yet forgotten. */
export const configRevisions = pgTable(
  "config_revisions",
  {
    epoch: bigint("epoch", { mode: "number" }).notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    revision: text("revision").notNull(),
    schemaVersion: integer("schema_version").notNull(),
    sealed: bytes("sealed").notNull(),
    keyId: text("key_id").notNull(),
    createdAt: unixMs("created_at").notNull(),
    createdBy: text("created_by").notNull(),
    summary: text("summary").notNull(),
  },
  (table) => [primaryKey({ columns: [table.epoch, table.sequence] })],
);
