/**
 * Brings a record into the limits of its schema, so that no store and no control plane has to refuse
 * it: texts cut, numbers finite, and no character that JSON or PostgreSQL can not hold.
 *
 * It hides nothing; that is redact.ts.
 */
import { recordTextMax, type QueryRecord, type RoutingStep } from "@gateway/contract/record.ts";
import { sameSteps } from "./steps.ts";

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

/**
 * What was last seen to hold in one field: there most texts are what they were in the record before, and are not read
 * again.
 */
class Held {
  readonly #max: number;
  #last: string | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  fits(value: string | undefined): boolean {
    if (value === undefined || value === this.#last) return true;
    if (!holds(value, this.#max)) return false;
    if (value.length <= keptCharsMax) this.#last = value;
    return true;
  }
}

/** A longer text is not kept to be compared with. */
const keptCharsMax = 1_024;

const held = {
  backendQueryId: new Held(charsMax.backendQueryId),
  worker: new Held(charsMax.worker),
  frontend: new Held(charsMax.frontend),
  user: new Held(charsMax.user),
  clientAddress: new Held(charsMax.clientAddress),
  clusterGroup: new Held(charsMax.clusterGroup),
  cluster: new Held(charsMax.cluster),
  engine: new Held(charsMax.engine),
  catalog: new Held(charsMax.catalog),
  schema: new Held(charsMax.schema),
  sql: new Held(charsMax.sql),
  translatedSql: new Held(charsMax.translatedSql),
  errorMessage: new Held(charsMax.errorMessage),
  enginePrincipal: new Held(charsMax.enginePrincipal),
} as const satisfies Record<Exclude<TextField, "proxyQueryId">, Held>;

function fits(record: QueryRecord): boolean {
  return (
    holds(record.proxyQueryId, charsMax.proxyQueryId) &&
    textsFit(record) &&
    isCount(record.rowsReturned) &&
    isCount(record.bytesReturned) &&
    isCount(record.queueMs) &&
    isCount(record.executionMs) &&
    mapsFit(record) &&
    listsFit(record)
  );
}

/** Each by its name: a walk over a list of names reads every one of them as if it had never seen a record. */
function textsFit(record: QueryRecord): boolean {
  return (
    held.backendQueryId.fits(record.backendQueryId) &&
    held.worker.fits(record.worker) &&
    held.frontend.fits(record.frontend) &&
    held.user.fits(record.user) &&
    held.clientAddress.fits(record.clientAddress) &&
    held.clusterGroup.fits(record.clusterGroup) &&
    held.cluster.fits(record.cluster) &&
    held.engine.fits(record.engine) &&
    held.catalog.fits(record.catalog) &&
    held.schema.fits(record.schema) &&
    held.sql.fits(record.sql) &&
    held.translatedSql.fits(record.translatedSql) &&
    held.errorMessage.fits(record.errorMessage) &&
    held.enginePrincipal.fits(record.enginePrincipal)
  );
}

function mapsFit({ tags, engineStats }: QueryRecord): boolean {
  for (const key in tags) if (!isText(key) || !isText(tags[key] ?? "")) return false;
  for (const key in engineStats) if (!isText(key) || !isStat(engineStats[key])) return false;
  return true;
}

/** The last way that fitted, where it was short. */
let heldWay: QueryRecord["routingTrace"] = [];
const heldStepsMax = 16;

function listsFit({ routingTrace, policyActions }: QueryRecord): boolean {
  if (routingTrace.length > listMax || policyActions.length > listMax) return false;
  if (!policyActions.every(isText)) return false;
  if (sameSteps(heldWay, routingTrace)) return true;
  for (const step of routingTrace) if (!isText(step.step) || !isText(step.outcome)) return false;
  if (routingTrace.length <= heldStepsMax && routingTrace.every(isShort)) {
    heldWay = routingTrace.slice();
  }
  return true;
}

function isShort({ step, outcome }: RoutingStep): boolean {
  return step.length + outcome.length <= keptCharsMax;
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
  if (value.length <= shortUnits && isAscii(value)) return value.length <= lengthMax;
  return value.length <= lengthMax && value.isWellFormed() && !value.includes("\0");
}

/** To look at each costs less than to reach what the platform looks with. */
const shortUnits = 64;

/** Without NUL. */
function isAscii(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const unit = value.charCodeAt(at);
    if (unit === 0 || unit > 0x7f) return false;
  }
  return true;
}

function count(value: number): number {
  return isCount(value) ? value : 0;
}

function isCount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

function isStat(value: number | undefined): boolean {
  return Number.isFinite(value);
}
