/** A client of node-postgres, or of a driver made from it, as a connection: cells as text, errors as codes. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { DatabaseError, Parameter } from "../database.ts";
import { touchedBy, type Connection, type Reply } from "./connection.ts";
import { databaseErrorOf } from "./pgError.ts";

/** The part of a client that both drivers share. */
export interface PgClient {
  query(config: PgQuery): Promise<PgResult | readonly PgResult[]>;
}

interface PgQuery {
  readonly text: string;
  readonly rowMode: "array";
  readonly values?: (string | Buffer | null)[];
  readonly queryMode?: "extended";
  /** Milliseconds after which the client gives up; the connection is of no use then. */
  readonly query_timeout: number;
}

interface PgResult {
  readonly command: string | null;
  readonly rowCount: number | null;
  readonly rows: readonly unknown[];
}

/** Hands every cell over as it came. */
export const cellsAsText = { getTypeParser: () => (cell: string) => cell };

/** Longer than any index is built: a limit only because every wait has one. */
const scriptMsMax = 24 * 60 * 60_000;

/** `failed` is told of each error before it is answered, so that the owner can drop the client. */
export function connectionOf(
  client: PgClient,
  statementMs: number,
  failed: (error: DatabaseError) => void,
): Connection {
  const ask = async (query: PgQuery): Promise<Result<Reply, DatabaseError>> => {
    try {
      const results = await client.query(query);
      return ok(replyOf(isList(results) ? results.at(-1) : results));
    } catch (caught) {
      const error = databaseErrorOf(caught);
      failed(error);
      return err(error);
    }
  };
  return {
    run: (text, parameters) =>
      // Without parameters the driver would fall back to a protocol that takes several statements.
      ask({
        text,
        values: parameters.map(valueOf),
        queryMode: "extended",
        rowMode: "array",
        query_timeout: statementMs,
      }),
    script: (text) => ask({ text, rowMode: "array", query_timeout: scriptMsMax }),
  };
}

/** A parameter as the drivers send it: text, or bytes as they are. */
export function valueOf(parameter: Parameter): string | Buffer | null {
  if (parameter === null || typeof parameter === "string") return parameter;
  if (!(parameter instanceof Uint8Array)) return String(parameter);
  // A view: a snapshot is large, and the driver copies it into its message anyway.
  return Buffer.from(parameter.buffer, parameter.byteOffset, parameter.byteLength);
}

function replyOf(result: PgResult | undefined): Reply {
  const command = result?.command ?? "";
  return {
    rows: (result?.rows ?? []) as Reply["rows"],
    count: touchedBy(command, result?.rowCount ?? null),
    command,
  };
}

function isList(results: PgResult | readonly PgResult[]): results is readonly PgResult[] {
  return Array.isArray(results);
}
