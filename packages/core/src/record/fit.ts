/**
 * Brings a record into the limits of its schema, so that no store and no control plane has to refuse
 * it: texts cut, numbers finite, and no character that JSON or PostgreSQL can not hold.
 *
 * It hides nothing; that is redact.ts.
 */
import { recordTextMax, type QueryRecord } from "@gateway/contract/record.ts";

const nameCharsMax = 1_024;
const idCharsMax = 128;
const listMax = 1_000;

/** The longest that a text of a client, an engine or a rule may be, in characters. */
const charsMax = {
  proxyQueryId: idCharsMax,
  backendQueryId: nameCharsMax,
  worker: nameCharsMax,
  frontend: nameCharsMax,
  user: nameCharsMax,
  clientAddress: nameCharsMax,
  clusterGroup: nameCharsMax,
  cluster: nameCharsMax,
  engine: nameCharsMax,
  catalog: nameCharsMax,
  schema: nameCharsMax,
  sql: recordTextMax,
  translatedSql: recordTextMax,
  errorMessage: recordTextMax,
  enginePrincipal: nameCharsMax,
} as const;
type TextField = keyof typeof charsMax;
const textFields = Object.keys(charsMax) as readonly TextField[];
const countFields = ["rowsReturned", "bytesReturned", "queueMs", "executionMs"] as const;

/** The record as it may be sent: itself when it fits, which is nearly always. */
export function fitRecord(record: QueryRecord): QueryRecord {
  return fits(record) ? record : cutRecord(record);
}

function fits(record: QueryRecord): boolean {
  for (const field of textFields) {
    const value = record[field];
    if (value !== undefined && !holds(value, charsMax[field])) return false;
  }
  for (const field of countFields) if (count(record[field]) !== record[field]) return false;
  const { tags, routingTrace, policyActions, engineStats } = record;
  for (const key in tags) if (!isText(key) || !isText(tags[key] ?? "")) return false;
  for (const key in engineStats) if (!isText(key) || !isStat(engineStats[key])) return false;
  if (routingTrace.length > listMax || policyActions.length > listMax) return false;
  for (const step of routingTrace) if (!isText(step.step) || !isText(step.outcome)) return false;
  return policyActions.every(isText);
}

function cutRecord(record: QueryRecord): QueryRecord {
  const fitted: { -readonly [Field in keyof QueryRecord]: QueryRecord[Field] } = {
    ...record,
    tags: Object.fromEntries(
      Object.entries(record.tags).map(([key, value]) => [text(key), text(value)]),
    ),
    routingTrace: record.routingTrace
      .slice(0, listMax)
      .map(({ step, outcome }) => ({ step: text(step), outcome: text(outcome) })),
    policyActions: record.policyActions.slice(0, listMax).map(text),
    engineStats: Object.fromEntries(
      Object.entries(record.engineStats)
        .filter(([, value]) => isStat(value))
        .map(([key, value]) => [text(key), value]),
    ),
  };
  for (const field of textFields) {
    const value = record[field];
    if (value !== undefined) fitted[field] = cut(value, charsMax[field]);
  }
  for (const field of countFields) fitted[field] = count(record[field]);
  return fitted;
}

function text(value: string): string {
  return cut(value, recordTextMax);
}

function isText(value: string): boolean {
  return holds(value, recordTextMax);
}

function cut(value: string, lengthMax: number): string {
  if (holds(value, lengthMax)) return value;
  return value.slice(0, lengthMax).toWellFormed().replaceAll("\0", "\uFFFD");
}

/** Half a character has no bytes, and PostgreSQL takes no NUL. */
function holds(value: string, lengthMax: number): boolean {
  return value.length <= lengthMax && value.isWellFormed() && !value.includes("\0");
}

function count(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

function isStat(value: number | undefined): boolean {
  return Number.isFinite(value);
}
