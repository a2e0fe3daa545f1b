/** A record as lines for people: where a query went, why, and what became of it. */
import type { QueryRecord } from "@gateway/contract/record.ts";

/** Widest first column; a longer label only pushes its own line. */
const labelWidth = 12;

/** The lines of one record, each with its line break. Safe to print: no control character of a client. */
export function explainText(record: QueryRecord): string {
  const facts = factsOf(record).map(([label, value]) => line(label, value));
  const trace =
    record.routingTrace.length === 0
      ? ["  (no trace: the redaction of the history kept none, or the query got no route)"]
      : record.routingTrace.map(
          ({ step, outcome }, at) => `  ${at + 1}. ${printable(`${step}: ${outcome}`)}`,
        );
  const actions = record.policyActions.map((action) => `  ${printable(action)}`);
  return [
    `query ${printable(record.proxyQueryId)}`,
    ...facts,
    "route",
    ...trace,
    ...(actions.length === 0 ? [] : ["policies", ...actions]),
  ]
    .map((text) => `${text}\n`)
    .join("");
}

type Fact = readonly [label: string, value: string | undefined];

function factsOf(record: QueryRecord): readonly Fact[] {
  const facts: readonly Fact[] = [
    ["status", statusOf(record)],
    ["came", `${new Date(record.createdAt).toISOString()} over ${record.frontend}`],
    ["user", `${record.user} from ${record.clientAddress}`],
    ["group", record.clusterGroup ?? "none"],
    ["cluster", clusterOf(record)],
    ["worker", record.worker],
    ["identity", identityOf(record)],
    ["tags", listed(record.tags)],
    ["waited", duration(record.queueMs)],
    ["ran", duration(record.executionMs)],
    ["returned", `${record.rowsReturned} rows, ${record.bytesReturned} bytes`],
    ["revision", record.revision],
    ["digest", record.digestHash],
    ["sql", record.sql],
    ["engine sql", record.translatedSql],
  ];
  return facts.filter(([, value]) => value !== undefined);
}

function statusOf({ status, errorCode, errorMessage }: QueryRecord): string {
  const code = errorCode === undefined ? "" : `, ${errorCode}`;
  return `${status}${code}${errorMessage === undefined ? "" : `: ${errorMessage}`}`;
}

function clusterOf({ cluster, engine }: QueryRecord): string {
  if (cluster === undefined) return "none";
  return engine === undefined ? cluster : `${cluster} (${engine})`;
}

function identityOf({ backendIdentityMode, enginePrincipal }: QueryRecord): string | undefined {
  if (backendIdentityMode === undefined) return undefined;
  const principal = enginePrincipal === undefined ? "" : ` as ${enginePrincipal}`;
  return `${backendIdentityMode}${principal}`;
}

function listed(tags: QueryRecord["tags"]): string | undefined {
  const pairs = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? undefined : pairs.join(", ");
}

function duration(ms: number): string {
  return `${Math.round(ms * 10) / 10} ms`;
}

function line(label: string, value: string | undefined): string {
  return `${label.padEnd(labelWidth)}${printable(value ?? "")}`;
}

/** A client's text could otherwise move the cursor of an operator's terminal, or forge a line. */
function printable(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\uFFFD");
}
