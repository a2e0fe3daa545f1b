/**
 * The log lines of a finished query: one with its digest, and its text, literals masked, only where
 * asked for. Neither says more than the redaction `maskLiterals` would.
 */
import { canonicalJson } from "@gateway/contract/canonical.ts";
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { Log } from "@gateway/core/port/log.ts";
import { dialectOf } from "@gateway/core/record/redact.ts";
import { digestSql } from "@gateway/core/sql/mask/fingerprint.ts";
import { maskLiterals } from "@gateway/core/sql/mask/mask.ts";
import { Recent, type Recognised } from "@gateway/core/tool/recent.ts";

/** One line for one query. `record` may be redacted or not; its texts are Unicode and its numbers finite, as `redact` leaves them. */
export function writeQueryLine(record: QueryRecord, log: Log): void {
  const { sql = "", sourceDialect, digestHash } = record;
  const digest = digestHash ?? digestSql(sql, dialectOf(sourceDialect)).fingerprint;
  // Written here, because a serialiser takes three times as long for the same twelve fields.
  const members =
    `"queryId":${canonicalJson(record.proxyQueryId)},${whereOf(record).textWith(digest)}` +
    `,"rows":${record.rowsReturned},"bytes":${record.bytesReturned}` +
    `,"queueMs":${msText(record.queueMs)},"executionMs":${msText(record.executionMs)}`;
  log.writeMembers("info", "query.ended", members);
}

/** Who asked, where it went, how it ended: mostly as in one of the lines before. */
class Where implements Recognised<QueryRecord> {
  readonly #frontend: string;
  readonly #user: string;
  readonly #clusterGroup: string | undefined;
  readonly #cluster: string | undefined;
  readonly #status: string;
  readonly #errorCode: string | undefined;
  readonly #text: string;
  /** Of the last one: mostly the next one has the same. */
  #digest: string | undefined;
  #withDigest = "";

  constructor({ frontend, user, clusterGroup, cluster, status, errorCode }: QueryRecord) {
    this.#frontend = frontend;
    this.#user = user;
    this.#clusterGroup = clusterGroup;
    this.#cluster = cluster;
    this.#status = status;
    this.#errorCode = errorCode;
    const fields = { frontend, user, clusterGroup, cluster, status, errorCode };
    this.#text = [JSON.stringify(fields).slice(1, -1), ""].join("");
  }

  /** All of it, and the digest. */
  textWith(digest: string): string {
    if (digest === this.#digest) return this.#withDigest;
    this.#digest = digest;
    this.#withDigest = [this.#text, ',"digest":', canonicalJson(digest)].join("");
    return this.#withDigest;
  }

  suits(record: QueryRecord): boolean {
    return (
      this.#user === record.user &&
      this.#cluster === record.cluster &&
      this.#status === record.status &&
      this.#errorCode === record.errorCode &&
      this.#clusterGroup === record.clusterGroup &&
      this.#frontend === record.frontend
    );
  }
}

const places = new Recent<QueryRecord, Where>(16);

function whereOf(record: QueryRecord): Where {
  const known = places.find(record);
  if (known !== undefined) return known;
  const made = new Where(record);
  places.keep(made);
  return made;
}

/** What stands behind whole milliseconds for so many microseconds, without zeros at the end: `.005`, `.12`. */
const fractions = Array.from({ length: 1_000 }, (_, us) => String(us / 1_000).slice(1));
/** As whole microseconds it is computed with exactly. */
const plainMsMax = 1_000_000_000;

/** As JSON has it, to whole microseconds. */
function msText(ms: number): string {
  if (!(ms >= 0 && ms < plainMsMax)) return JSON.stringify(Math.round(ms * 1_000) / 1_000);
  const us = Math.round(ms * 1_000);
  const left = us % 1_000;
  return `${(us - left) / 1_000}${fractions[left] ?? ""}`;
}

/** The statement's text, its literals masked; nothing when it can not be masked for certain. */
export function writeQueryText(record: QueryRecord, log: Log): void {
  const masked = maskLiterals(
    record.sql?.slice(0, textCharsMax) ?? "",
    dialectOf(record.sourceDialect),
  );
  if (masked.ok)
    log.write("debug", "query.text", { queryId: record.proxyQueryId, sql: masked.value });
}

/** Of a longer text only the beginning is logged, if that alone can be read. */
const textCharsMax = 4_096;
