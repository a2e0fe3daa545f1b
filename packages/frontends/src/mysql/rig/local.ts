/** A session and its surroundings for the tests of what the frontend answers itself. */
import { sessionOf } from "@gateway/core/rig/session.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Session } from "@gateway/core/query/query.ts";
import type { Value } from "@gateway/core/type/type.ts";
import { openClientSession, type ClientSession } from "../session/clientSession.ts";
import { answerLocally } from "../commands/local.ts";
import type { LocalAnswer } from "../commands/answer.ts";
import type { ShowContext } from "../commands/show.ts";

/** A session of `ann` right after the login. */
export function clientOf(more: Partial<ClientSession> = {}, schema?: string): ClientSession {
  const session: Session = sessionOf({ frontend: "mysqlWire", dialect: "duckdb", schema });
  const claim = {
    capabilities: 0,
    mariadbCapabilities: 0,
    secure: false,
    user: "ann",
    database: schema,
    collation: 255,
    attributes: new Map<string, string>(),
    zstdLevel: undefined,
  };
  return { ...openClientSession(session, claim, 7), ...more };
}

export function contextOf(client = clientOf()): ShowContext {
  return {
    client,
    packetBytesMax: () => 1 << 26,
    maxConnections: 100,
    port: 3306,
    tls: false,
    nowMs: 1_767_225_600_500,
    catalog: () => "lake",
    ownWords: () => false,
    relays: () => false,
    uptimeSecs: 5,
    threads: 1,
    cipher: { name: "", protocol: "", resumed: false },
  };
}

export function answerOf(sql: string, client = clientOf()): LocalAnswer | undefined {
  return answerLocally(sql, contextOf(client));
}

/** Rows of an answer that has some. */
export function rowsOf(sql: string, client = clientOf()): readonly (readonly Value[])[] {
  const answer = answerOf(sql, client);
  if (answer?.kind !== "rows") throw new Error(`${sql}: ${answer?.kind ?? "not answered"}`);
  return answer.rows;
}

/** A table without columns in the catalog and schema of these tests. */
export function tableOf(name: string, more: Partial<TableListing> = {}): TableListing {
  return { catalog: "lake", schema: "s", name, kind: "table", columns: [], ...more };
}

/** The session after a statement that changes it. */
export function after(sql: string, client = clientOf()): ClientSession {
  const answer = answerOf(sql, client);
  if (answer?.kind !== "changed") throw new Error(`${sql}: ${JSON.stringify(answer)}`);
  return answer.client;
}

/** The number of the error a statement is refused with. */
export function errnoOf(sql: string, client = clientOf()): number | undefined {
  const answer = answerOf(sql, client);
  return answer?.kind === "error" ? answer.reply.errno : undefined;
}
