/**
 * Rows that Trino hands over as segments instead of in its answers: inline in base64, or to be fetched from
 * the coordinator and acknowledged. Only the encoding `json` was asked for. Segments that lie elsewhere than
 * on the coordinator are refused: an answer must not choose what this process connects to.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { HeaderList, TrinoHttp } from "./http.ts";
import type { Caller } from "../identity.ts";

/** The rows of one segment, as the JSON array of a page. */
export interface SpooledRows {
  readonly bytes: Uint8Array;
}

/** Where segments come from, and who asks for them. */
export interface SegmentSource {
  readonly http: TrinoHttp;
  readonly caller: Caller;
}

type Fetched = Result<SpooledRows, GatewayError>;

/** The segments of one page in order. Ends behind the first that fails. */
export async function* segmentsOf(
  source: SegmentSource,
  spooled: unknown,
  signal: AbortSignal,
): AsyncGenerator<Fetched, void, void> {
  const segments = fieldOf(spooled, "segments");
  if (fieldOf(spooled, "encoding") !== "json" || !Array.isArray(segments)) {
    return yield refusal("spooled rows in another encoding than asked for");
  }
  for (const segment of segments as readonly unknown[]) {
    const fetched = await rowsOf(source, segment, signal);
    yield fetched;
    if (!fetched.ok) return;
  }
}

async function rowsOf(
  source: SegmentSource,
  segment: unknown,
  signal: AbortSignal,
): Promise<Fetched> {
  switch (fieldOf(segment, "type")) {
    case "inline": {
      const data = fieldOf(segment, "data");
      if (typeof data !== "string") return refusal("a segment without its rows");
      return ok({ bytes: new Uint8Array(Buffer.from(data, "base64")) });
    }
    case "spooled":
      return await fetchRows(source, segment, signal);
    default:
      return refusal("a segment of an unknown kind");
  }
}

async function fetchRows(
  { http, caller }: SegmentSource,
  segment: unknown,
  signal: AbortSignal,
): Promise<Fetched> {
  const path = pathOf(http, fieldOf(segment, "uri"));
  if (path === undefined) return refusal("a segment in another place than the coordinator");
  const headers = http.headersOf(headersIn(fieldOf(segment, "headers")), caller);
  const request = { method: "GET", path, headers, body: undefined, control: false } as const;
  const answer = await http.ask(request, signal);
  if (!answer.ok) {
    return answer.error === "aborted"
      ? err(gatewayError("query.cancelled"))
      : refusal("a segment that did not come");
  }
  if (answer.value.status !== 200) return refusal(`a segment with HTTP ${answer.value.status}`);
  const acknowledge = pathOf(http, fieldOf(segment, "ackUri"));
  if (acknowledge !== undefined) {
    // Trino removes what nobody acknowledged by itself, so the answer does not matter.
    await http.ask({ ...request, path: acknowledge, control: true }, signal);
  }
  return ok({ bytes: answer.value.body });
}

/** Headers that the storage asks for. None may replace ours. */
function headersIn(value: unknown): HeaderList {
  if (typeof value !== "object" || value === null) return [];
  const headers = new Map<string, string>();
  for (const [name, values] of Object.entries(value as Readonly<Record<string, unknown>>)) {
    const [first] = Array.isArray(values) ? (values as readonly unknown[]) : [values];
    const own = /^(authorization|cookie|host|x-trino-)/i.test(name);
    if (!own && typeof first === "string") headers.set(name.toLowerCase(), first);
  }
  return [...headers].flat();
}

function pathOf(http: TrinoHttp, link: unknown): string | undefined {
  if (typeof link !== "string" || !URL.canParse(link)) return undefined;
  const { origin, pathname, search } = new URL(link);
  return origin === http.origin ? pathname + search : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function refusal(detail: string): Fetched {
  return err(gatewayError("engine.broken", { detail }));
}
