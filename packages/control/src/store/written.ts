/**
 * A record as text, written once: the whole is hashed, and what has no column of its own is what the
 * database keeps.
 *
 * Twenty thousand records a second pass here, so there is one walk over a record and no copy of it.
 */
import { hash } from "node:crypto";
import { canonicalJson } from "@gateway/contract/canonical.ts";
import { queryRecordSchema, type QueryRecord } from "@gateway/contract/record.ts";
import type { RecordRest } from "./records.sql.ts";
import { storableRecord } from "./storable.ts";
import type { IncomingRecord } from "./store.ts";

export interface WrittenRecord {
  /** Canonical JSON of the record. */
  readonly whole: string;
  /** Its members that have no column, without the braces around them. */
  readonly rest: string;
}

interface Field {
  readonly key: keyof QueryRecord;
  /** `"key":` */
  readonly name: string;
  readonly inRest: boolean;
}

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

/** In canonical order (RFC 8785 §3.2.3), so that nothing is sorted per record. */
const fields: readonly Field[] = queryRecordSchema
  .keyof()
  .options.toSorted()
  .map((key) => ({
    key,
    name: `${canonicalJson(key)}:`,
    inRest: !Object.hasOwn(columnFields, key),
  }));

/** Throws for a record that holds what no store can; `storableRecord` has none of it. */
export function writtenRecord(record: QueryRecord): WrittenRecord {
  const whole: string[] = [];
  const rest: string[] = [];
  for (const { key, name, inRest } of fields) {
    const value = record[key];
    if (value === undefined) continue;
    const member = name + canonicalJson(value);
    whole.push(member);
    if (inRest) rest.push(member);
  }
  // Joined, which makes one flat text: a text that grew is a tree of its parts, and the collector
  // would walk those of every record that waits for the database.
  return { whole: `{${whole.join(",")}}`, rest: rest.join(",") };
}

/** A storable record with its hash, `sha256:…` over its canonical JSON. */
export function incomingRecord(record: QueryRecord): IncomingRecord {
  const { whole, rest } = writtenRecord(record);
  return { record, contentHash: `sha256:${hash("sha256", whole, "hex")}`, rest };
}

/** The members of a record that have no column, as JSON that every store can hold. */
export function restOf({ record, rest }: IncomingRecord): string {
  return rest ?? writtenRecord(storableRecord(record)).rest;
}
