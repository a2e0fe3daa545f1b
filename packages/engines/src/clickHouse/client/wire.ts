/** Requests to ClickHouse's HTTP interface. What an answer means is in run.ts. */
import type { ClusterAuthOf } from "@gateway/contract/config/cluster.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import { waited, type Reading } from "@gateway/core/query/course.ts";
import type { RelayBody } from "@gateway/core/query/query.ts";
import type { Http1Pool } from "../../connect/http1/pool.ts";
import { encodedText, RequestForm, type EncodedText } from "../../connect/http1/request.ts";
import { exchange, type Exchanged, type HttpResponse } from "./exchange.ts";
import type { Caller } from "../identity.ts";

/** One statement on its way. */
export interface Submission {
  readonly sql: string;
  /** As whom it runs. */
  readonly caller: Caller;
  /** The tag under which the server lists it. */
  readonly queryId: string;
  /** The same as it stands in an address, where that is known. */
  readonly encodedId?: EncodedText | undefined;
  readonly database: string | undefined;
  /** Fields of the address beside those: settings, values of parameters. */
  readonly fields: readonly Field[];
  /** What the client's own protocol asks for; undefined for statements of others. */
  readonly relay?: RelayedAsk | undefined;
}

/** How a client of the server's own protocol is passed on. */
export interface RelayedAsk {
  /** Fields of the address, each with its `&`, before the settings of the cluster, which are not to be changed. */
  readonly query: string;
  /** They say nothing but the form of an answer, as those of many statements do. */
  readonly isForm: boolean;
  /** The answer comes in the client's form and not as blocks. */
  readonly raw: boolean;
  readonly acceptEncoding: string | undefined;
  /** Rows behind the statement, whose text then travels in the address. */
  readonly body: RelayBody | undefined;
}

/** Ways to the server: pools, and who asks. */
export interface Wire {
  readonly pool: Http1Pool;
  /** For KILL and lists: never behind a queue of long statements. */
  readonly control: Http1Pool;
  /** Of every request, from `loginHeaders`. */
  readonly login: readonly string[];
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

/** Sends the statement with the text `sql`, which already says as whom it runs. */
export function submit(
  wire: Wire,
  { queryId, encodedId, database, fields, relay }: Submission,
  sql: string,
  signal: AbortSignal,
): Exchanged {
  const rows = relay?.body;
  const headers = headersOf(wire, relay);
  const settings = relay?.raw === true ? wire.relaySettings : wire.settings;
  const part = encodedId ?? encodedText(queryId);
  if (rows === undefined && relay?.isForm !== false && fields.length === 0) {
    const form = formOf({ database, query: relay?.query ?? "", settings, headers });
    return exchange(wire.pool, { form, part, body: sql }, signal);
  }
  let path = before + part + databaseField(database);
  if (rows !== undefined) path += `&query=${encodeURIComponent(sql)}`;
  if (rows?.blocks === true) path += "&decompress=1";
  path += relay?.query ?? "";
  if (settings !== "") path += `&${settings}`;
  if (fields.length > 0) path += `&${queryOf(fields)}`;
  return exchange(wire.pool, { method: "POST", path, headers, body: rows?.bytes ?? sql }, signal);
}

const before = "/?query_id=";

/** What statements have in common. */
interface Common {
  readonly database: string | undefined;
  readonly query: string;
  readonly settings: string;
  readonly headers: readonly string[];
}

let last: (Common & { readonly form: RequestForm }) | undefined;

function formOf({ database, query, settings, headers }: Common): RequestForm {
  const isSame = last?.database === database && last?.query === query;
  if (last !== undefined && isSame && last.settings === settings && last.headers === headers) {
    return last.form;
  }
  const behind = databaseField(database) + query + (settings === "" ? "" : `&${settings}`);
  const form = new RequestForm({ method: "POST", headers }, before, behind);
  last = { database, query, settings, headers, form };
  return form;
}

function databaseField(database: string | undefined): string {
  return database === undefined ? "" : `&database=${encodeURIComponent(database)}`;
}

/** The last list for a login and an encoding. */
let lastList: { login: readonly string[]; accepts: string; headers: readonly string[] } | undefined;

/** The same list for requests that ask for the same: its lines are then written once. */
function headersOf({ login }: Wire, relay: RelayedAsk | undefined): readonly string[] {
  const accepts = relay?.raw === true ? relay.acceptEncoding : undefined;
  const body = relay?.body;
  if (body === undefined) return accepts === undefined ? login : acceptingOf(login, accepts);
  const headers = [...login];
  headers[1] = "application/octet-stream";
  if (body.encoding !== undefined) headers.push("content-encoding", body.encoding);
  if (accepts !== undefined) headers.push("accept-encoding", accepts);
  return headers;
}

function acceptingOf(login: readonly string[], accepts: string): readonly string[] {
  if (lastList?.login === login && lastList.accepts === accepts) return lastList.headers;
  const headers = [...login, "accept-encoding", accepts];
  lastList = { login, accepts, headers };
  return headers;
}

/** Names and values in turn. What the body is stands first. */
export function loginHeaders(
  auth: ClusterAuthOf<"basic" | "bearer"> | undefined,
): readonly string[] {
  const headers = ["content-type", "text/plain; charset=UTF-8"];
  if (auth === undefined) return headers;
  if (auth.type === "bearer") {
    return [...headers, "authorization", `Bearer ${secretText(auth.token)}`];
  }
  const login = Buffer.from(`${auth.username}:${secretText(auth.password)}`).toString("base64");
  return [...headers, "authorization", `Basic ${login}`];
}

export function queryOf(fields: readonly Field[]): string {
  return fields.map(([name, value]) => `${encodeURIComponent(name)}=${encoded(value)}`).join("&");
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
export function* textOf({ body }: HttpResponse, bytesMax: number): Reading<string> {
  const parts: Uint8Array[] = [];
  for (let held = 0; held < bytesMax;) {
    const due = body.next();
    const step = due instanceof Promise ? yield* waited(due) : due;
    if (step.kind === "failed") return "";
    if (step.kind === "end") break;
    parts.push(step.bytes);
    held += step.bytes.length;
  }
  return Buffer.concat(parts).subarray(0, bytesMax).toString();
}
