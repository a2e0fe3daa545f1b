/**
 * How many rows a change found, which is what it counts on every wire but MySQL's: the server counts those that
 * are other than before, and says the rest in its line of text.
 */
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import type { OkReply } from "./reply.ts";

const matched = /^Rows matched: (\d+)/;
const inserted = /^Records: (\d+)\s+Duplicates: (\d+)/;
const upsert = /\bon\s+duplicate\s+key\b/i;
const ignoring = /^[^'"`]*\binsert\s+(?:\w+\s+)?ignore\b/i;

const upserts = remembered((sql) => upsert.test(sql) && !ignoring.test(sql), {
  textsMax: 1_000,
  lengthMax: 2_000,
});

/** The count as for a client that asked for found rows. */
export function foundBy(
  { affectedRows, info }: Pick<OkReply, "affectedRows" | "info">,
  sql: string,
): number {
  // A result of rows comes without a line.
  if (info === "") return upserts(sql) ? Math.max(1, affectedRows) : affectedRows;
  const rows = matched.exec(info)?.[1];
  if (rows !== undefined) return Number(rows);
  if (!upserts(sql)) return affectedRows;
  // A row that stands already as it is to be counts 0 here and 1 there; one that is changed counts 2 in both.
  const [, records, changes] = inserted.exec(info) ?? [];
  if (records !== undefined && changes !== undefined) return Number(records) + Number(changes);
  return Math.max(1, affectedRows);
}
