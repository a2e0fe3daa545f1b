/**
 * Refusals of the admin API, each a problem. Texts stand here and in the handlers: nothing that a
 * driver, a database or a library said is ever part of an answer.
 */
import type { ConfigFault, ConfigRefusal } from "../config/configuration.ts";
import { problemResponse, type Problem } from "../problem.ts";

const titles = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  428: "Precondition Required",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
} as const;

export type RefusalStatus = keyof typeof titles;

/** Seconds after which a client asks again when the database is down. */
const retryAfterSecs = "5";

/** A problem with the status's own title. */
export function refuse(
  status: RefusalStatus,
  more: Omit<Problem, "status" | "title">,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return problemResponse({ status, title: titles[status], ...more }, headers);
}

export function missing(what: string): Response {
  return refuse(404, { code: "missing", detail: `There is no such ${what}.` });
}

/** 422 with every path. */
export function invalid(faults: readonly ConfigFault[]): Response {
  return refuse(422, { code: "invalid", detail: "The content is not valid.", faults });
}

/** 400 with the parameters that are wrong. */
export function badRequest(detail: string, faults?: readonly ConfigFault[]): Response {
  const found = faults === undefined ? {} : { faults };
  return refuse(400, { code: "badRequest", detail, ...found });
}

/** 412 with the version that is there. */
export function lostUpdate(current: number | undefined): Response {
  const detail =
    current === undefined
      ? "It does not exist."
      : `Somebody changed it meanwhile: the version is ${current} now.`;
  return refuse(412, { code: "lostUpdate", detail, current: current ?? null });
}

/** 503: nothing was written, or nobody knows. The driver's code is for the log and stays out. */
export function unavailable(detail = "The database does not answer."): Response {
  return refuse(503, { code: "unavailable", detail }, { "retry-after": retryAfterSecs });
}

/** The answer to what a configuration refused. */
export function configRefused(refusal: ConfigRefusal, what: string): Response {
  switch (refusal.code) {
    case "invalid":
      return invalid(refusal.faults);
    case "lostUpdate":
      return lostUpdate(refusal.current);
    case "missing":
      return missing(what);
    case "unavailable":
      return busyWriting.has(refusal.detail) ? unavailable(othersWrite) : unavailable();
  }
}

/** The database answers; others got there first, each time. */
const busyWriting: ReadonlySet<string> = new Set(["contended", "busy"]);
const othersWrite = "Others write the configuration at this moment. Nothing of this was written.";
