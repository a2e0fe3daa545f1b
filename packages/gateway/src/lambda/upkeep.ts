/**
 * What a container does now and then in the background and a function can not: deletes what is too old
 * or too much. The platform's schedule calls it.
 *
 * Leases need no such call: workers ask the engines themselves, and the reaper's clock moves with each
 * of their requests. A tick from here would make a control plane that answers nobody look alive, and
 * workers would lose the grace that follows such a silence.
 */
import type { Database } from "@gateway/control/store/database.ts";
import type { Migration } from "@gateway/control/store/migrate/migration.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";
import { retentionSchema } from "../config/control.ts";
import { sweepOnce, type RetentionLimits, type Sweep } from "../history/retention.ts";
import { judgeSchema } from "./schema.ts";
import type { Surroundings } from "./settings.ts";

/** What the function is told beside its database, as JSON: `gateway.retention`. */
export const retentionVariable = "GATEWAY_RETENTION";

export interface UpkeepParts extends Omit<Sweep, "limits"> {
  readonly database: Database;
  /** The program's, oldest first. */
  readonly files: readonly Migration[];
  readonly retention: RetentionLimits;
}

/** The limits, with the config's own defaults; or the name of the variable, when it is wrong. */
export function readRetention(from: Surroundings): Result<RetentionLimits, string> {
  const text = from.variable(retentionVariable);
  const parsed = z.preprocess(objectOf, retentionSchema).safeParse(text ?? "{}");
  return parsed.success ? ok(parsed.data) : err(retentionVariable);
}

/** Throws when something was not deleted, or the database is not the program's: to the platform that is a failed call. */
export async function keepUp(parts: UpkeepParts): Promise<void> {
  const { database, files, retention, ...sweep } = parts;
  const fits = await judgeSchema(database, files);
  if (!fits.ok) throw new Error(fits.error.detail);
  const failed = await sweepOnce({ ...sweep, limits: retention });
  if (failed.length > 0) throw new Error(`not deleted: ${failed.join(", ")}`);
}

function objectOf(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
