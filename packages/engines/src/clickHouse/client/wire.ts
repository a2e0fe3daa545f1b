/** Requests to ClickHouse's HTTP interface. What an answer means is in run.ts. */
import type { ClusterAuthOf } from "@gateway/contract/config/cluster.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import type { RelayBody } from "@gateway/core/query/query.ts";
import { Readable } from "node:stream";
import type { Pool } from "undici";
import { exchange, type HttpResponse } from "./exchange.ts";
import type { Caller } from "../identity.ts";

/** One statement on its way. */
export interface Submission {
  readonly sql: string;
  /** As whom it runs. */
  readonly caller: Caller;
  /** The tag under which the server lists it. */
  readonly queryId: string;
  readonly database: string | undefined;
  /** Fields of the address beside those: settings, values of parameters. */
  readonly fields: readonly Field[];
  /** What the client's own protocol asks for; undefined for statements of others. */
  readonly relay?: RelayedAsk | undefined;
}

/** How a client of the server's own protocol is passed on. */
export interface RelayedAsk {
  /** Before the settings of the cluster, which are not to be changed. */
  readonly fields: readonly Field[];
  /** The answer comes in the client's form and not as blocks. */
  readonly raw: boolean;
  readonly acceptEncoding: string | undefined;
  /** Rows behind the statement, whose text then travels in the address. */
  readonly body: RelayBody | undefined;
}

/** Ways to the server: pools, and who asks. */
export interface Wire {
  readonly pool: Pool;
  /** For KILL and lists: never behind a queue of long statements. */
  readonly control: Pool;
  readonly auth: ClusterAuthOf<"basic" | "bearer"> | undefined;
  /** Fields of the address of every statement, from `settingsQuery`. */
  readonly settings: string;
  /** The same for answers in the client's own form, from `relaySettingsQuery`. */
  readonly relaySettings: string;
}

type Field = readonly [string, string | Uint8Array];

const cancelsOnClose = ["cancel_http_readonly_queries_on_client_close", "1"] as const;

/** Settings of every statement: what readers here rely on. */
const ownSettings = [
  ["default_format", "Native"],
  // Without it the type stands for a structure that no reader here knows.
  ["output_format_native_write_json_as_string", "1"],
  // Progress comes as headers, which are held until the first row.
  ["send_progress_in_http_headers", "1"],
  ["http_headers_progress_interval_ms", "10000"],
  cancelsOnClose,
] as const;

/** Settings of a cluster's config and those of the readers here, as they stand in an address. */
export function settingsQuery(settings: readonly (readonly [string, string])[]): string {
  return queryOf([...settings, ...ownSettings]);
}

/** Settings of a cluster's config for an answer that no reader here looks at. */
export function relaySettingsQuery(settings: readonly (readonly [string, string])[]): string {
  return queryOf([...settings, cancelsOnClose]);
}

/** Sends the statement, whose text already says as whom it runs. Rejects with undici's error when there is no answer. */
export function submit(
  wire: Wire,
  submission: Submission,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { sql, queryId, database, fields, relay } = submission;
  const place = database === undefined ? "" : `&database=${encodeURIComponent(database)}`;
  const settings = relay?.raw === true ? wire.relaySettings : wire.settings;
  const rows = relay?.body;
  const text: readonly Field[] = rows === undefined ? [] : [["query", sql]];
  const blocks: readonly Field[] = rows?.blocks === true ? [["decompress", "1"]] : [];
  const before = [...text, ...blocks, ...(relay?.fields ?? [])];
  const path = [
    `/?query_id=${encodeURIComponent(queryId)}${place}`,
    ...(before.length === 0 ? [] : [queryOf(before)]),
    settings,
    ...(fields.length === 0 ? [] : [queryOf(fields)]),
  ].join("&");
  const options = {
    method: "POST",
    path,
    headers: { ...loginOf(wire.auth), ...headersOf(relay) },
    body: rows === undefined ? sql : Readable.from(rows.bytes, { objectMode: false }),
  } as const;
  return exchange(wire.pool, options, signal);
}

function headersOf(relay: RelayedAsk | undefined): Readonly<Record<string, string>> {
  const { acceptEncoding, body, raw } = relay ?? {};
  return {
    "content-type": body === undefined ? "text/plain; charset=UTF-8" : "application/octet-stream",
    ...(body?.encoding === undefined ? {} : { "content-encoding": body.encoding }),
    ...(acceptEncoding === undefined || raw !== true ? {} : { "accept-encoding": acceptEncoding }),
  };
}

function queryOf(fields: readonly Field[]): string {
  return fields.map(([name, value]) => `${encodeURIComponent(name)}=${encoded(value)}`).join("&");
}

function loginOf(auth: Wire["auth"]): Readonly<Record<string, string>> {
  if (auth === undefined) return {};
  if (auth.type === "bearer") return { authorization: `Bearer ${secretText(auth.token)}` };
  const login = Buffer.from(`${auth.username}:${secretText(auth.password)}`).toString("base64");
  return { authorization: `Basic ${login}` };
}

/** Bytes that are no text are encoded as they are. */
function encoded(value: string | Uint8Array): string {
  if (typeof value === "string") return encodeURIComponent(value);
  let text = "";
  for (const byte of value) text += `%${byte.toString(16).padStart(2, "0")}`;
  return text;
}

/** A header that stands once; the last one of several. */
export function headerOf({ headers }: HttpResponse, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.at(-1) : value;
}

/** The start of a body as text, and no more of it. */
export async function textOf({ body }: HttpResponse, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let held = 0;
  for await (const part of body) {
    parts.push(part);
    held += part.length;
    if (held >= bytesMax) break;
  }
  return Buffer.concat(parts).subarray(0, bytesMax).toString();
}

/** True for a failure before anything was sent: another cluster may run the statement. */
export function neverSent(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && connectCodes.has(code);
}

/** The code of undici's or the system's error, also of one that wraps another. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  return "cause" in error ? codeOf(error.cause) : undefined;
}

const connectCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EACCES",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "EPROTO",
]);
