/**
 * A record as text, written once: the whole is hashed, and what has no column of its own is what the
 * database keeps.
 *
 * Twenty thousand records a second pass here, so there is one walk over a record and no copy of it.
 */
import { hash } from "node:crypto";
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";
import { queryRecordSchema, type QueryRecord } from "@gateway/contract/record.ts";
import type { RecordRest } from "./records.sql.ts";
import { storableRecord } from "./storable.ts";
import type { IncomingRecord } from "./store.ts";

/** The members of a record that have no column of their own, as JSON without the braces around them. */
export interface RecordParts {
  /** The record's own. */
  readonly rest: string;
  /** The same for many records. */
  readonly shared: string;
  /** The numbers of `figureFields`. */
  readonly figures: string;
}

export interface WrittenRecord extends RecordParts {
  /** Canonical JSON of the record. */
  readonly whole: string;
}

interface Field {
  readonly key: keyof QueryRecord;
  /** `"key":` */
  readonly name: string;
  readonly kind: "column" | "figure" | "shared" | "own";
  /** The last value and how it was written: most fields of most records are what they were in the one before. */
  value: Json | undefined;
  member: string;
}

/** A longer text is not kept to be compared with. */
const keptCharsMax = 1_024;

/** Which fields stand in columns; the compiler knows when one is missing. */
const columnFields: Readonly<Record<Exclude<keyof QueryRecord, keyof RecordRest>, true>> = {
  proxyQueryId: true,
  user: true,
  status: true,
  clusterGroup: true,
  cluster: true,
  frontend: true,
  errorCode: true,
  worker: true,
};

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

/** Mostly another one in each record. Tags and statistics are shared where there are none. */
const ownFields: readonly (keyof RecordRest)[] = ["backendQueryId", "errorMessage"];

/** In canonical order (RFC 8785 §3.2.3), so that nothing is sorted per record. */
const fields: readonly Field[] = queryRecordSchema
  .keyof()
  .options.toSorted()
  .map((key) => ({
    key,
    name: `${canonicalJson(key)}:`,
    kind: kindOf(key),
    value: undefined,
    member: "",
  }));

function kindOf(key: keyof QueryRecord): Field["kind"] {
  if (Object.hasOwn(columnFields, key)) return "column";
  if (figureFields.some((name) => name === key)) return "figure";
  return ownFields.some((name) => name === key) ? "own" : "shared";
}

/** Throws for a record that holds what no store can; `storableRecord` has none of it. */
export function writtenRecord(record: QueryRecord): WrittenRecord {
  const whole: string[] = [];
  const rest: string[] = [];
  const shared: string[] = [];
  const figures: string[] = [];
  for (const field of fields) {
    const { key, kind } = field;
    const value = record[key];
    if (value === undefined) continue;
    const member = memberOf(field, value);
    whole.push(member);
    if (kind === "column") continue;
    if (kind === "figure") figures.push(member);
    else if (kind === "own" || isOwn(key, member)) rest.push(member);
    else shared.push(member);
  }
  // Joined, which makes one flat text: a text that grew is a tree of its parts, and the collector
  // would walk those of every record that waits for the database.
  return {
    whole: `{${whole.join(",")}}`,
    rest: rest.join(","),
    shared: shared.join(","),
    figures: figures.join(","),
  };
}

/** The field with its value. Lists and maps are told by being the same ones: nobody changes a record. */
function memberOf(field: Field, value: Json): string {
  if (field.value === value) return field.member;
  const member = field.name + canonicalJson(value);
  if (field.kind === "figure" || member.length > keptCharsMax) return member;
  field.value = value;
  field.member = member;
  return member;
}

/** A client may give each of its queries a tag of its own. */
function isOwn(key: keyof QueryRecord, member: string): boolean {
  return (key === "tags" || key === "engineStats") && !member.endsWith(":{}");
}

/** A storable record with its hash, `sha256:…` over its canonical JSON. */
export function incomingRecord(record: QueryRecord): IncomingRecord {
  const { whole, ...parts } = writtenRecord(record);
  return { record, contentHash: `sha256:${hash("sha256", whole, "hex")}`, parts };
}

/** What of a record has no column, as every store can hold it. */
export function partsOf({ record, parts }: IncomingRecord): RecordParts {
  return parts ?? writtenRecord(storableRecord(record));
}

/** All of it together. */
export function restOf(incoming: IncomingRecord): string {
  const { figures, rest, shared } = partsOf(incoming);
  return [figures, rest, shared].filter((part) => part !== "").join(",");
}
