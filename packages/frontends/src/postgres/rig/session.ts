/** Sessions and doors for the tests of this folder. */
import type { Pin } from "@gateway/core/query/pin.ts";
import type { Session } from "@gateway/core/query/query.ts";

/** A session of `ann` with nothing set. */
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

/** A pin whose state the test turns, and that remembers whether it was ended. */
export function pinOf(): { -readonly [Key in keyof Pin]: Pin[Key] } & { ended: number } {
  const pin = {
    cluster: "c",
    group: "g",
    state: "open" as Pin["state"],
    ended: 0,
    end: () => {
      pin.ended += 1;
      pin.state = "ended";
      return Promise.resolve();
    },
  };
  return pin;
}
