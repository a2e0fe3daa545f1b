/** Refusals of the worker API that more than one of its routes gives. */
import type { Log } from "@gateway/core/port/log.ts";
import type { z } from "zod";
import { problemResponse } from "../problem.ts";
import type { StoreUnavailable } from "../store/store.ts";
import { retryAfterSecs } from "./limits.ts";

/** 503: the database is gone, and nothing was acknowledged. */
export function storeGone(log: Log, { detail }: StoreUnavailable): Response {
  log.write("warn", "workerApi.storeUnavailable", { detail });
  return comeAgain("unavailable", "The database does not answer.");
}

/** 503: there is no configuration yet. */
export function notConfigured(): Response {
  return comeAgain("notConfigured", "There is no configuration yet.");
}

/** 503: as much is going on as may. */
export function tooBusy(): Response {
  return comeAgain("busy", "Too many such calls are open.");
}

/** 403: no registration has this instance id and token. The worker registers again. */
export function notRegistered(): Response {
  return problemResponse({
    status: 403,
    code: "notRegistered",
    title: "Forbidden",
    detail: "Instance id and instance token fit no registration; register again.",
  });
}

/** 422: the body is JSON of another shape. */
export function invalidBody(error: z.ZodError): Response {
  const faults = error.issues.map(({ path, code }) => ({ path: path.join("."), reason: code }));
  return problemResponse({ status: 422, code: "invalid", title: "Unprocessable Content", faults });
}

function comeAgain(code: string, detail: string): Response {
  return problemResponse(
    { status: 503, code, title: "Service Unavailable", detail },
    { "retry-after": retryAfterSecs },
  );
}
