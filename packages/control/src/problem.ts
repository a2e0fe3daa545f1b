/** RFC 9457 problem details: the only error body of the admin and worker API. */

export interface Problem {
  readonly status: number;
  /** Stable, for programs: `lostUpdate`, `invalid`. */
  readonly code: string;
  readonly title: string;
  readonly detail?: string;
  /** For 422: every path and its reason. */
  readonly faults?: readonly { readonly path: string; readonly reason: string }[];
  /** For 412: the version that is there now; null when there is none. */
  readonly current?: number | null;
  /** For 409 on a format: the ones that are read here. */
  readonly supported?: readonly number[];
}

export const problemType = "application/problem+json";

/** The answer to a refused request. `headers` are added to the content type. */
export function problemResponse(
  { status, ...more }: Problem,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(
    { type: "about:blank", status, ...more },
    { status, headers: { ...headers, "content-type": problemType } },
  );
}
