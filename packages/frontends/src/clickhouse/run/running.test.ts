/** Statements under way are found by their users only, whoever gave the id. */
import { Canceller } from "@gateway/core/tool/canceller.ts";
import { describe, expect, it } from "vitest";
import { runningOfUserMax } from "../limits.ts";
import { Running } from "./running.ts";

const statement = { sql: "select 1", canceller: new Canceller() };

describe.each([
  ["the gateway", true],
  ["its client", false],
])("a statement whose id %s gave", (_, isOurs) => {
  it("is found by its user until it is over, and by nobody else", () => {
    const running = new Running();
    const added = running.add("ann", { id: "a", isOurs }, statement);
    if (!added.ok) throw new Error(added.error.code);
    expect(running.find("ann", "a")?.sql).toBe("select 1");
    expect(running.find("ann", "b")).toBeUndefined();
    expect(running.find("bob", "a")).toBeUndefined();
    added.value[Symbol.dispose]();
    expect(running.find("ann", "a")).toBeUndefined();
  });

  it("keeps its id from clients of its user", () => {
    const running = new Running();
    running.add("ann", { id: "a", isOurs }, statement);
    const second = running.add("ann", { id: "a", isOurs: false }, statement);
    expect(second).toMatchObject({ ok: false, error: { code: "query.conflict" } });
    expect(running.add("bob", { id: "a", isOurs: false }, statement).ok).toBe(true);
  });

  it("counts for its user", () => {
    const running = new Running();
    for (let count = 0; count < runningOfUserMax; count += 1) {
      expect(running.add("ann", { id: `${count}`, isOurs }, statement).ok).toBe(true);
    }
    const more = running.add("ann", { id: "more", isOurs }, statement);
    expect(more).toMatchObject({ ok: false, error: { code: "connection.limit" } });
  });

  it("tells whoever waits for its end, and only then", async () => {
    const running = new Running();
    const added = running.add("ann", { id: "a", isOurs }, statement);
    if (!added.ok) throw new Error(added.error.code);
    const told: string[] = [];
    const gone = running.gone("ann", "a").then(() => told.push("gone"));
    await running.gone("ann", "nobody");
    expect(told).toEqual([]);
    added.value[Symbol.dispose]();
    await gone;
    expect(told).toEqual(["gone"]);
  });
});
