import { virtualHost } from "@gateway/core/port/virtual.ts";
import { describe, expect, it } from "vitest";
import { Members, type Member } from "./members.ts";

describe("Members", () => {
  it("lets the owner alone end a connection or what it runs", () => {
    const members = new Members(virtualHost(1).clock);
    const done: string[] = [];
    const id = members.join(memberOf("ann", done));
    expect(members.kill(id, "bob", true)).toBe("notOwner");
    expect(done).toEqual([]);
    expect(members.kill(id, "ann", false)).toBe("done");
    expect(done).toEqual(["cancel"]);
    expect(members.kill(id, "ann", true)).toBe("done");
    expect(done).toEqual(["cancel", "cancel", "close"]);
  });

  it("does not know connections that left or have not logged in", () => {
    const members = new Members(virtualHost(1).clock);
    const done: string[] = [];
    const unknown = members.join(memberOf(undefined, done));
    const left = members.join(memberOf("ann", done));
    members.leave(left);
    expect(members.kill(unknown, "ann", true)).toBe("unknown");
    expect(members.kill(left, "ann", true)).toBe("unknown");
    expect(done).toEqual([]);
  });

  it("lists a user's own connections only", () => {
    const members = new Members(virtualHost(1).clock);
    const own = members.join(memberOf("ann", []));
    members.join(memberOf("bob", []));
    expect(members.list("ann", 3500)).toEqual([
      [String(own), "ann", "127.0.0.1", null, "Query", "3", "executing", "select 1"],
    ]);
  });
});

function memberOf(user: string | undefined, done: string[]): Member {
  return {
    user,
    address: "127.0.0.1",
    database: undefined,
    running: "select 1",
    sinceMs: 0,
    cancel: () => done.push("cancel"),
    close: () => done.push("close"),
    closeIdle: () => undefined,
  };
}
