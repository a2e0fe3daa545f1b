/** A query as a statement for the server: judged, with its parameters written and its fields beside it. */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { shownTags } from "@gateway/core/query/tagText.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import { readSessionStatement } from "@gateway/core/sql/session/session.ts";
import type { ClickHouseConfig } from "../config.ts";
import { account, callerOf, type Caller } from "../identity.ts";
import { judge, type Judged } from "../sql/guard.ts";
import { placeParameters, type Placed } from "../sql/parameters.ts";
import { relayedAsk } from "./relayedAsk.ts";
import { statementId } from "./statementId.ts";
import type { Submission } from "./wire.ts";

/** What runs, and as what. */
export interface Judgement {
  readonly submission: Submission;
  readonly judged: Judged;
  /** The client's own text, where positions in it hold. */
  readonly shown: string | undefined;
}

/** A statement that changes the database of its session and does nothing else. */
export interface Use {
  readonly database: string;
  readonly caller: Caller;
}

/** What is said of a text alone, for the account and without parameters: asked once and not by each stage. */
interface Facts {
  readonly database: string | undefined;
  readonly judged: Result<Judged, GatewayError>;
  readonly placed: Result<Placed, GatewayError>;
}

const noFields: Submission["fields"] = [];

const factsOf = remembered<Facts>(
  (sql) => ({
    database: databaseIn(sql),
    judged: judge(sql, account),
    placed: placeParameters(sql, []),
  }),
  { textsMax: 256, lengthMax: 2_048 },
);

function databaseIn(sql: string): string | undefined {
  const used = readSessionStatement(sql, "clickhouse");
  const isDatabase = used?.kind === "use" && used.object === undefined;
  return isDatabase ? (used.path.at(-1)?.text ?? "") : undefined;
}

/** Refuses what may not run here, or not so. */
export function judgementOf(
  query: Identified,
  config: ClickHouseConfig,
): Result<Judgement | Use, GatewayError> {
  const found = callerOf(query, config);
  if (!found.ok) return found;
  const caller = found.value;
  const { engineSql, parameters, session } = query;
  const facts = factsOf(engineSql);
  if (facts.database !== undefined) return ok({ database: facts.database, caller });
  const judged = caller.kind === "account" ? facts.judged : judge(engineSql, caller);
  if (!judged.ok) return judged;
  const isPlain = parameters.length === 0;
  const placed = isPlain ? facts.placed : placeParameters(engineSql, parameters);
  if (!placed.ok) return placed;
  const relay = relayedAsk(query, config, caller);
  if (!relay.ok) return relay;
  const comment = commentOf(query, caller, config);
  const needsNone = isPlain && judged.value.reads && comment === undefined;
  const { queryId, encodedId } = statementId(query);
  const submission: Submission = {
    relay: relay.value,
    sql: placed.value.sql,
    caller,
    queryId,
    encodedId,
    database: session.schema ?? config.database,
    fields: needsNone ? noFields : fieldsOf(placed.value, judged.value, comment),
  };
  return ok({ submission, judged: judged.value, shown: isPlain ? engineSql : undefined });
}

function fieldsOf(
  { values }: Placed,
  { reads }: Judged,
  comment: string | undefined,
): Submission["fields"] {
  const fields: (readonly [string, string | Uint8Array])[] = [...values];
  // What a write changed is known at its end only.
  if (!reads) fields.push(["wait_end_of_query", "1"]);
  if (comment !== undefined) fields.push([commentSetting, comment]);
  return fields;
}

const commentSetting = "log_comment";

/** The client's tags for the server's log, unless somebody else says what stands there. Beside the text of an impersonated user no setting goes out. */
function commentOf(
  { session, relay }: Identified,
  caller: Caller,
  { settings }: ClickHouseConfig,
): string | undefined {
  if (session.tags.size === 0) return undefined;
  const isSaid = relay?.fields.some(([name]) => name === commentSetting) ?? false;
  if (isSaid || caller.kind === "user" || Object.hasOwn(settings, commentSetting)) return undefined;
  const shown = shownTags(session.tags);
  return shown === "" ? undefined : shown;
}

export function isUse(found: Judgement | Use): found is Use {
  return !("submission" in found);
}
