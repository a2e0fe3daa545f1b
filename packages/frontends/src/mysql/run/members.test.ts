import { virtualHost } from "@gateway/core/rig/virtual.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import { describe, expect, it } from "vitest";
import { crewOf } from "../../rig/crew.ts";
import { Members, type Killer, type Member } from "./members.ts";

describe("Members", () => {
  it("lets the owner alone end a connection or what it runs", async () => {
    const members = new Members(virtualHost(1));
    const done: string[] = [];
    const id = members.join(memberOf("ann", done));
    expect(await members.kill(id, killerOf("bob"), true)).toBe("notOwner");
    expect(done).toEqual([]);
    expect(await members.kill(id, killerOf("ann"), false)).toBe("done");
    expect(done).toEqual(["cancel"]);
    expect(await members.kill(id, killerOf("ann"), true)).toBe("done");
    expect(done).toEqual(["cancel", "cancel", "close"]);
  });

  it("lets whoever may end the query that runs, and nobody where none does", async () => {
    const members = new Members(virtualHost(1));
    const done: string[] = [];
    const busy = members.join(memberOf("ann", done));
    const atRest = members.join({ ...memberOf("ann", done), queryId: undefined });
    const operator = killerOf("bob", (query) => done.push(`ended ${query}`) > 0);
    expect(await members.kill(atRest, operator, true)).toBe("notOwner");
    expect(done).toEqual([]);
    expect(await members.kill(busy, operator, false)).toBe("done");
    expect(await members.kill(busy, operator, true)).toBe("done");
    expect(done).toEqual(["ended q1", "ended q1", "close"]);
  });

  it("does not know connections that left or have not logged in", async () => {
    const members = new Members(virtualHost(1));
    const done: string[] = [];
    const unknown = members.join(memberOf(undefined, done));
    const left = members.join(memberOf("ann", done));
    members.leave(left);
    expect(await members.kill(unknown, killerOf("ann"), true)).toBe("unknown");
    expect(await members.kill(left, killerOf("ann"), true)).toBe("unknown");
    expect(done).toEqual([]);
  });

  it("lists a user's own connections only", async () => {
    const host = virtualHost(1);
    const members = new Members(host);
    await host.advance(3500);
    const own = members.join(memberOf("ann", []));
    members.join(memberOf("bob", []));
    expect(await members.listAnywhere("ann")).toEqual([
      [String(own), "ann", "127.0.0.1", null, "Query", "3", "executing", "select 1"],
    ]);
  });

  it("lists and ends a user's connections in every process, and nobody else's", async () => {
    const crew = crewOf(2).map((siblings) => new Members({ ...virtualHost(1), siblings }));
    const done: string[] = [];
    const [here, there] = crew;
    const near = here?.join(memberOf("ann", done)) ?? 0;
    const far = there?.join(memberOf("ann", done)) ?? 0;
    const foreign = there?.join(memberOf("bob", done)) ?? 0;
    for (const members of crew)
      expect((await members.listAnywhere("ann")).map(([id]) => Number(id))).toEqual([near, far]);
    expect(await here?.killAnywhere(far, killerOf("ann"), true)).toBe("done");
    expect(done).toEqual(["cancel", "close"]);
    expect(await here?.killAnywhere(foreign, killerOf("ann"), true)).toBe("notOwner");
    expect(await there?.killAnywhere(near, killerOf("bob"), false)).toBe("notOwner");
    expect(done).toEqual(["cancel", "close"]);
  });
});

function killerOf(user: string, mayEnd: (query: QueryId) => boolean = () => false): Killer {
  return { user, endForeign: async (query) => mayEnd(query) };
}

function memberOf(user: string | undefined, done: string[]): Member {
  return {
    user,
    address: "127.0.0.1",
    database: undefined,
    running: "select 1",
    queryId: "q1" as QueryId,
    sinceMs: 0,
    cancel: () => done.push("cancel"),
    close: () => done.push("close"),
    closeIdle: () => undefined,
  };
}
