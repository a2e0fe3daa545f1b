/** Texts for a connection under NO_BACKSLASH_ESCAPES, where a backslash stands for itself in strings. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Slices } from "@gateway/core/port/host.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import { inOneGo } from "@gateway/core/sql/reading/steps.ts";
import { toPlain } from "@gateway/core/sql/rewrite/backslashes.ts";
import type { Member } from "../../starRocks/client/member.ts";
import { withLiterals } from "../../starRocks/sql/parameters.ts";
import { modeVariable, readsBackslashes } from "../../starRocks/client/session.ts";

export interface Reader {
  readonly slices: Slices;
  /** Whose text it is. Users take turns with long ones. */
  readonly user: string;
  readonly signal: AbortSignal;
}

/**
 * The text, whose strings have escapes, in the words of this connection. `query.unsupported` where it has none in
 * them; nothing was sent then.
 */
export function textFor(
  member: Pick<Member, "variables">,
  sql: string,
  reader: Reader,
): Result<string, GatewayError> | Promise<Result<string, GatewayError>> {
  if (!readsBackslashes(member.variables.get(modeVariable))) return ok(sql);
  return sql.length > longTextUnits ? longText(sql, reader) : resultOf(inOneGo(toPlain(sql)));
}

/** The same of a whole statement, with its parameters as literals where it is not prepared. */
export function sentText(
  member: Pick<Member, "variables">,
  { engineSql, parameters, mysql }: Identified,
  reader: Reader,
): ReturnType<typeof textFor> {
  const literals = mysql?.execution === undefined && parameters.length > 0;
  const written = literals ? withLiterals(engineSql, parameters) : ok(engineSql);
  return written.ok ? textFor(member, written.value, reader) : written;
}

async function longText(
  sql: string,
  { slices, user, signal }: Reader,
): Promise<Result<string, GatewayError>> {
  const client = {
    get over() {
      return signal.aborted;
    },
  };
  const text = await slices.run({ steps: toPlain(sql), user, client });
  return signal.aborted ? err(gatewayError("query.cancelled")) : resultOf(text);
}

function resultOf(text: string | undefined): Result<string, GatewayError> {
  if (text !== undefined) return ok(text);
  const message = "a string of this text can not be written under NO_BACKSLASH_ESCAPES";
  return err(gatewayError("query.unsupported", { message }));
}
