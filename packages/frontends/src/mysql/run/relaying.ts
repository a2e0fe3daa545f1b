/**
 * Where every engine of a session is a server of MySQL's: what goes to it with a statement, and in which words.
 */
import type { MysqlCall, MysqlExecution } from "@gateway/core/query/mysqlCall.ts";
import { allSpeakMysql } from "@gateway/core/query/reached.ts";
import type { Statement } from "@gateway/core/sql/statement.ts";
import type { NativeFormat } from "@gateway/core/type/vector.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import { resultsOf } from "../session/clientSession.ts";
import type { Responder } from "./responder.ts";

/** The client's own words, for a server that reads them as they are. */
export interface Relayed {
  readonly statement: Statement;
  /** Of a prepared statement. */
  readonly execution: MysqlExecution | undefined;
}

/** True where statements may reach nothing else than servers that speak MySQL. */
export function relays({ door, client }: Pick<Responder, "door" | "client">): boolean {
  return allSpeakMysql(door.engines(client.session));
}

/**
 * The statement as it is, undefined where the engine is to get it in the lexis of the standard. A comment that is
 * code to some servers is read here as the MySQL of this version reads it, and goes to no server of another one.
 */
export function relayedOf(
  responder: Pick<Responder, "door" | "client">,
  statement: Statement,
): Relayed | undefined {
  const hasCode = statement.sql.includes("/*!") || statement.sql.includes("/*M!");
  return hasCode || !relays(responder) ? undefined : { statement, execution: undefined };
}

/** What a server of MySQL's may answer with where its packets are taken at all. */
export const relayedRows: readonly NativeFormat[] = ["mysqlRows", "mysqlBinaryRows", "mysqlNext"];

export function callOf(
  { home, client, files }: Pick<Responder, "home" | "client" | "files">,
  { execution, next }: Pick<MysqlCall, "execution" | "next">,
): MysqlCall {
  const foundRows = (client.capabilities & capability.foundRows) !== 0;
  const ignoreSpace = (client.capabilities & capability.ignoreSpace) !== 0;
  const results = resultsOf(client);
  const { extendedMetadata } = client;
  return { home, foundRows, ignoreSpace, extendedMetadata, results, next, execution, files };
}
