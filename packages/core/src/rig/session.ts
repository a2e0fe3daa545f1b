/** Sessions for tests. */
import type { Session } from "../query/query.ts";

/** A session of `ann` with nothing set, and with what a test says otherwise. */
export function sessionOf(more: Partial<Session> = {}): Session {
  return {
    frontend: "postgresWire",
    identity: { user: "ann", groups: [], roles: [], method: "none" },
    credential: { kind: "none" },
    clientAddress: "127.0.0.1",
    dialect: "postgres",
    catalog: undefined,
    schema: undefined,
    settings: new Map(),
    tags: new Map(),
    headers: new Map(),
    pin: undefined,
    ...more,
  };
}
