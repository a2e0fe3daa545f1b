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
  /** With a comma behind it. */
  member: string;
}

/** A longer text is not kept to be compared with. */
const keptCharsMax = 1_024;
/** As long a text of many fields is none that the next record would have too. */
const keptJoinedMax = 16_384;

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

/**
 * Members as they were written in the record before. Most are the same, so runs of them are joined anew only where
 * one of them changed: joining all of them takes as long as all the rest of a record.
 */
class Run {
  readonly #texts: string[];
  #changed = false;
  #joined = "";

  constructor(count: number) {
    this.#texts = Array.from({ length: count }, () => "");
  }

  /** `text` is `"key":value,`, and empty where the record has none. */
  put(at: number, text: string): void {
    if (this.#texts[at] === text) return;
    this.#texts[at] = text;
    this.#changed = true;
  }

  /**
   * All of them, each with its comma. Joined, which makes one flat text: a text that grew is a tree of its parts, and
   * the collector would walk those of every record that waits for the database.
   */
  joined(): string {
    if (!this.#changed) return this.#joined;
    const joined = this.#texts.join("");
    const keeps = joined.length <= keptJoinedMax;
    if (!keeps) this.#texts.fill("");
    this.#joined = keeps ? joined : "";
    this.#changed = !keeps;
    return joined;
  }
}

/** Where a field stands in the whole: in a run of those that seldom change, or between two of them. */
interface Place {
  readonly run: number;
  readonly at: number;
}

const runs: Run[] = [];
const places: readonly (Place | undefined)[] = placesInRuns();
const inRest = new Run(fields.length);
const inShared = new Run(fields.length);

function placesInRuns(): readonly (Place | undefined)[] {
  const found: (Place | undefined)[] = [];
  let length = 0;
  const end = (): void => {
    if (length > 0) runs.push(new Run(length));
    length = 0;
  };
  for (const { key, kind } of fields) {
    if (kind === "figure" || kind === "own" || key === "proxyQueryId") {
      end();
      found.push(undefined);
      continue;
    }
    found.push({ run: runs.length, at: length });
    length += 1;
  }
  end();
  return found;
}

/** Throws for a record that holds what no store can; `storableRecord` has none of it. */
export function writtenRecord(record: QueryRecord): WrittenRecord {
  let whole = "{";
  let run = -1;
  const figures: string[] = [];
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at];
    if (field === undefined) continue;
    const { key, kind } = field;
    const value = key === "routingTrace" ? traceOf(record.routingTrace) : record[key];
    const member = value === undefined ? "" : memberOf(field, value);
    const place = places[at];
    if (place === undefined) {
      whole += (runs[run]?.joined() ?? "") + member;
      run = -1;
    } else {
      run = place.run;
      runs[run]?.put(place.at, member);
    }
    if (kind === "figure") figures.push(member);
    if (kind === "figure" || kind === "column") continue;
    const own = kind === "own" || isOwn(key, member);
    inRest.put(at, own ? member : "");
    inShared.put(at, own ? "" : member);
  }
  whole += runs[run]?.joined() ?? "";
  return {
    whole: `${whole.slice(0, -1)}}`,
    rest: inRest.joined().slice(0, -1),
    shared: inShared.joined().slice(0, -1),
    figures: figures.join("").slice(0, -1),
  };
}

/** The field with its value. Lists and maps are told by being the same ones: nobody changes a record. */
function memberOf(field: Field, value: Json): string {
  if (field.value === value) return field.member;
  const member = `${field.name + canonicalJson(value)},`;
  if (field.kind === "figure" || member.length > keptCharsMax) return member;
  field.value = value;
  field.member = member;
  return member;
}

let lastTrace: QueryRecord["routingTrace"] = [];

/** The way of a query is another list in each record, and mostly says the same: then it is the list before. */
function traceOf(trace: QueryRecord["routingTrace"]): QueryRecord["routingTrace"] {
  if (lastTrace.length !== trace.length) return (lastTrace = trace);
  for (let at = 0; at < trace.length; at += 1) {
    const [last, now] = [lastTrace[at], trace[at]];
    if (last?.step !== now?.step || last?.outcome !== now?.outcome) return (lastTrace = trace);
  }
  return lastTrace;
}

/** A client may give each of its queries a tag of its own. */
function isOwn(key: keyof QueryRecord, member: string): boolean {
  return (key === "tags" || key === "engineStats") && !member.endsWith(":{},");
}

/** A storable record with its hash, `sha256:…` over its canonical JSON. */
export function incomingRecord(record: QueryRecord): IncomingRecord {
  // Each by its name: "the others", as a pattern, takes as long as the hash.
  const { whole, rest, shared, figures } = writtenRecord(record);
  const contentHash = `sha256:${hash("sha256", whole, "hex")}`;
  return { record, contentHash, parts: { rest, shared, figures } };
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
