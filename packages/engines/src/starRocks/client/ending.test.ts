import { ok } from "@gateway/core/result.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { endStatement, listSql, type Ask } from "./ending.ts";

const never = new AbortController().signal;

/** A server whose lists are these, one after another, and empty then. */
function serverOf(lists: readonly (readonly unknown[])[]): { ask: Ask; looks: () => number } {
  let looks = 0;
  const ask: Ask = (sql) => {
    if (sql !== listSql) return Promise.resolve(ok([]));
    const row = lists[looks];
    looks += 1;
    return Promise.resolve(ok(row === undefined ? [] : [row as never]));
  };
  return { ask, looks: () => looks };
}

describe("endStatement", () => {
  it.each([
    ["sleeps", [7, "u", "h", "demo", "Sleep", 3, "", null]],
    ["is idle and marked by MariaDB", [7, "u", "h", "demo", "Killed", 3, "", null, 0]],
    ["is another's", [8, "u", "h", "demo", "Query", 3, "", "select 1", 0]],
  ])("waits for nothing where the connection %s", async (_what, row) => {
    const { clock } = virtualHost(1);
    const { ask, looks } = serverOf([row, row, row]);
    // Nobody moves this clock: a second look would never come.
    expect(await endStatement({ threadId: 7, ask, clock }, never)).toBe(true);
    expect(looks()).toBe(1);
  });

  it("looks again while the statement has its text", async () => {
    const host = virtualHost(1);
    const { clock } = host;
    const row = [7, "u", "h", "demo", "Killed", 3, "Query end", "select sleep(9)", 0];
    const { ask, looks } = serverOf([row]);
    const ended = endStatement({ threadId: 7, ask, clock }, never);
    await host.advance(1_000);
    expect(await ended).toBe(true);
    expect(looks()).toBe(2);
  });
});
