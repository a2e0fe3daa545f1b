/**
 * A record as text, written once: the whole is hashed, and what has no column of its own is what the
 * database keeps.
 *
 * Twenty thousand records a second pass here, so there is one walk over a record and no copy of it.
 */
import { hash } from "node:crypto";
import type { QueryRecord } from "@gateway/contract/record.ts";
import { membersOf, RecordForms } from "@gateway/core/record/form.ts";
import type { RecordRest } from "./records.sql.ts";
import { storableRecord } from "./storable.ts";
import type { IncomingRecord } from "./store.ts";

/** The members of a record that have neither a column nor a place in the column `figures`, as JSON without the braces. */
export interface RecordParts {
  /** The record's own. */
  readonly rest: string;
  /** The same for many records. */
  readonly shared: string;
}

/** How a record was written for its store; where it was not, the store writes it. */
export interface Writing {
  /** From `incomingRecord`, which writes a record anyway. */
  readonly parts?: RecordParts;
}

export interface WrittenRecord extends RecordParts {
  /** Canonical JSON of the record. */
  readonly whole: string;
}

/** Numbers that every record has its own of, in the order of the column `figures`. */
export const figureFields = [
  "createdAt",
  "startedAt",
  "finishedAt",
  "queueMs",
  "executionMs",
  "rowsReturned",
  "bytesReturned",
] as const satisfies readonly (keyof RecordRest)[];

const forms = new RecordForms();

/** Throws for a record that holds what no store can; `storableRecord` has none of it. */
export function writtenRecord(record: QueryRecord): WrittenRecord {
  const form = forms.of(record);
  const statement = form.statementOf(record);
  const tags = form.tagsOf(record);
  const whole = form.whole(record, statement, tags);
  return { whole, rest: form.ownOf(tags), shared: form.sharedOf(statement, tags) };
}

// ---------------------------------------------------------------- what stores take

/** A storable record with its hash. */
export function incomingRecord(record: QueryRecord): IncomingRecord {
  // Each by its name: "the others", as a pattern, takes as long as the hash.
  const { whole, rest, shared } = writtenRecord(record);
  return { record, contentHash: contentHashOf(whole), parts: { rest, shared } };
}

/** `sha256:…` of a record's canonical JSON, in UTF-8 where it is bytes. */
export function contentHashOf(canonical: string | Uint8Array): string {
  return `sha256:${hash("sha256", canonical, "hex")}`;
}

/** What of a record has no column, as every store can hold it. */
export function partsOf({ record, parts }: IncomingRecord): RecordParts {
  return parts ?? writtenRecord(storableRecord(record));
}

/** All of it together, with the figures. */
export function restOf(incoming: IncomingRecord): string {
  const { rest, shared } = partsOf(incoming);
  const figures = membersOf(incoming.record, ...figureFields).slice(1);
  return [figures, rest, shared].filter((part) => part !== "").join(",");
}
