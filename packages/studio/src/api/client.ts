/**
 * The one place that asks the admin API. Answers are values; a refusal is thrown as an `ApiError`, because the query
 * cache takes a throw for an error and nothing else does.
 */
import { setConnection } from "./connection.ts";
import type { Fault, Problem } from "./shapes.ts";

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly faults: readonly Fault[];

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title);
    this.name = "ApiError";
    this.status = problem.status;
    this.code = problem.code;
    this.faults = problem.faults ?? [];
  }
}

/** What a write believes is there: a version, or that nothing is. */
export type Expected = number | "absent";

/** A write is sent by `writes.ts` alone. */
export interface Request {
  readonly method?: "GET" | "PUT" | "POST" | "DELETE";
  readonly body?: unknown;
  readonly expected?: Expected;
  readonly signal?: AbortSignal;
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

/** Reads. `path` is below `/admin`. */
export async function ask<Answer>(
  path: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Answer> {
  const response = await request(path, options);
  return (await response.json()) as Answer;
}

/** The same with the answer's own headers and body; refusals are thrown all the same. */
export async function request(path: string, options: Request = {}): Promise<Response> {
  const { method = "GET", body, expected, signal } = options;
  const headers: Record<string, string> = { accept: "application/json" };
  // A write with a cookie says that it is JSON, also without a body: no form of another page can.
  if (method !== "GET") headers["content-type"] = "application/json";
  if (expected === "absent") headers["if-none-match"] = "*";
  else if (expected !== undefined) headers["if-match"] = `"${expected}"`;
  const init: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal !== undefined) init.signal = signal;
  const response = await reached(`/admin${path}`, init);
  if (response.ok) return response;
  throw new ApiError(await problemOf(response));
}

async function reached(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    // A proxy in front of a control plane that is away says so with these.
    setConnection(response.status === 502 || response.status === 504 ? "lost" : "answering");
    return response;
  } catch (cause) {
    if (init.signal?.aborted === true) throw cause;
    setConnection("lost");
    throw new ApiError({
      status: 0,
      code: "unreachable",
      title: "No answer",
      detail: "The control plane does not answer.",
    });
  }
}

async function problemOf(response: Response): Promise<Problem> {
  const { status } = response;
  try {
    const problem = (await response.json()) as Partial<Problem>;
    return {
      ...problem,
      status,
      code: problem.code ?? "unknown",
      title: problem.title ?? `Status ${status}`,
    };
  } catch {
    // A proxy's page is no problem of ours.
    return { status, code: "unknown", title: `The answer has status ${status}.` };
  }
}

/** `/queries?limit=100&user=ann`; what is undefined or empty is left out. */
export function pathOf(path: string, parameters: Parameters): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** A name as one step of a path. */
export function step(name: string): string {
  return encodeURIComponent(name);
}

/** The error's own words, whatever it is. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "Something went wrong.";
}
