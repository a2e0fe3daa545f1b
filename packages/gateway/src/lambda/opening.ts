/**
 * Opens the database when the first request needs it, and once.
 *
 * A function never migrates: the deploy step has done it, and a database of another version is
 * refused. A database that was found fit stays fit while the instance lives, because migrations
 * only add to what an older program reads.
 */
import type { Configuration } from "@gateway/control/config/configuration.ts";
import type { Result } from "@gateway/core/result.ts";

export type OpenRefusal =
  /** The deploy step did not run, or another program's did. `detail` names versions. */
  | { readonly code: "databaseVersion"; readonly detail: string }
  /** Rows are sealed under keys that are not configured, or do not open. `detail` is for the log. */
  | { readonly code: "sealed"; readonly detail: string }
  /** The database did not answer. `detail` is a code, for the log. */
  | { readonly code: "unavailable"; readonly detail: string };

export interface Opened {
  readonly config: Pick<Configuration, "refresh" | "judged">;
  /** Admin API, worker API and the OpenAPI document. */
  readonly control: { fetch(request: Request): Response | Promise<Response> };
}

export type Open = () => Promise<Result<Opened, OpenRefusal>>;

/** Requests that arrive together share one attempt; after a refusal the next one tries again. */
export function openOnce(open: Open): Open {
  let attempt: ReturnType<Open> | undefined;
  return async () => {
    const mine = (attempt ??= open());
    const opened = await mine;
    if (!opened.ok && attempt === mine) attempt = undefined;
    return opened;
  };
}
