/** A client's statement made ready for a driver: judged, and written in the driver's form. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import { statementTypes } from "../../duckDb/library/statementTypes.ts";
import type { ExpectedStatement } from "../../native/message.ts";
import { judgeAhead, judgeStatement } from "../sql/guard.ts";
import type { Profile } from "../profile.ts";
import { placesError, type EngineStatement } from "./run.ts";
import { writtenAhead, writtenFor } from "../sql/written.ts";

/** Reads of a long text, in steps, what `preparedFor` asks of it. */
export function* preparedAhead(profile: Profile, sql: string): Steps<void> {
  yield* judgeAhead(profile, sql);
  yield* writtenAhead(profile, sql);
}

/** Refuses what may not run, and another number of values than the statement has places; a description has none yet. */
export function preparedFor(
  profile: Profile,
  query: Identified,
  pinned: boolean,
  purpose: "execute" | "describe" = "execute",
): Result<Pick<EngineStatement, "judged" | "written">, GatewayError> {
  const judged = judgeStatement(profile, query.engineSql, pinned);
  if (!judged.ok) return judged;
  if (judged.value.makes && makesTemporary(query.session.settings.get("search_path"))) {
    const message = "with pg_temp first in search_path, what is made is temporary and not kept";
    return err(gatewayError("query.unsupported", { message }));
  }
  const written = writtenFor(profile, query);
  if (!written.ok) return written;
  // DuckDB's own parser counts them, and knows forms that are not looked for here.
  const counted = profile.name !== "duckdb" && purpose === "execute";
  const wrong = counted ? placesError(written.value, query.parameters.length) : undefined;
  return wrong === undefined ? ok({ judged: judged.value, written: written.value }) : err(wrong);
}

/** Whether names without a schema are made in PostgreSQL's schema for what only a connection sees. */
function makesTemporary(path: string | undefined): boolean {
  return path !== undefined && /^(?:\s*"?\$user"?\s*,)?\s*"?pg_temp"?\s*(?:,|$)/i.test(path);
}

/** What DuckDB's parser must say of a statement of ours; others are not asked. */
export function ownExpected({ name }: Profile): ExpectedStatement | undefined {
  if (name !== "duckdb") return undefined;
  const { select, set } = statementTypes;
  return { types: [select, set], expandedType: undefined };
}
