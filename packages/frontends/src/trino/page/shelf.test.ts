import type { QueryId } from "@gateway/core/query/query.ts";
import { describe, expect, it } from "vitest";
import { Shelf } from "./shelf.ts";

const limits = {
  bytesMax: 30_000,
  overCountMax: 3,
  overMs: 60,
  repeatMs: 10,
  lateBytesMax: 10_000,
  forgottenMs: 480,
};

describe("Shelf.put", () => {
  it("gives up finished statements, oldest first, when they keep too much", () => {
    const shelf = shelfOf(["running", 10_000, false], ["a", 10_000, true], ["b", 10_000, true]);
    shelf.put(statementOf("c", 10_000, true), 0);
    expect(["running", "a", "b", "c"].filter((id) => has(shelf, id))).toEqual([
      "running",
      "b",
      "c",
    ]);
    expect(shelf.bytes).toBe(30_000);
  });

  it("gives up finished statements, oldest first, when there are too many", () => {
    const shelf = shelfOf(["a", 1, true], ["b", 1, true], ["c", 1, true], ["d", 1, true]);
    expect(["a", "b", "c", "d"].filter((id) => has(shelf, id))).toEqual(["b", "c", "d"]);
  });

  it("never gives up an unfinished statement for room, and then nothing may be built ahead", () => {
    const shelf = shelfOf(["a", 10_000, false], ["b", 10_000, false], ["c", 20_000, false]);
    expect(["a", "b", "c"].every((id) => has(shelf, id))).toBe(true);
    expect(shelf.hasRoom).toBe(false);
  });

  it("keeps little of finished statements once their clients had time to ask again", () => {
    const shelf = shelfOf(["a", 8_000, true], ["b", 8_000, true], ["open", 8_000, false]);
    shelf.put(statementOf("c", 0, true), 9);
    expect(["a", "b"].map((id) => has(shelf, id))).toEqual([true, true]);
    shelf.put(statementOf("c", 0, true), 10);
    expect(["a", "b", "open"].map((id) => has(shelf, id))).toEqual([false, true, true]);
  });

  it("forgets a finished statement after its time and an unfinished one after its own", () => {
    const shelf = shelfOf(["finished", 10, true], ["forgotten", 10, false]);
    shelf.put(statementOf("late", 0, false), 60);
    expect([has(shelf, "finished"), has(shelf, "forgotten")]).toEqual([false, true]);
    shelf.put(statementOf("later", 0, false), 480);
    expect([has(shelf, "forgotten"), has(shelf, "late")]).toEqual([false, true]);
  });

  it("counts what a statement keeps now without taking it as asked", () => {
    const shelf = shelfOf(["a", 10_000, false]);
    shelf.weigh(statementOf("a", 5000, false));
    expect(shelf.bytes).toBe(10_000);
    const open = statementOf("b", 1, false);
    shelf.put(open, 5);
    shelf.weigh(Object.assign(open, { retainedBytes: 7000 }));
    expect(shelf.bytes).toBe(17_000);
    expect(shelf.askedBefore(6).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(shelf.askedBefore(5).map(({ id }) => id)).toEqual(["a"]);
  });

  it("counts a statement once, with what it keeps now, also when it finished meanwhile", () => {
    const shelf = shelfOf(["a", 10_000, false]);
    shelf.put(statementOf("a", 5000, true), 1);
    expect(shelf.bytes).toBe(5000);
    shelf.remove("a" as QueryId);
    expect(shelf.bytes).toBe(0);
    expect(has(shelf, "a")).toBe(false);
  });
});

describe("Shelf.idle", () => {
  it("resolves when the last unfinished statement finished", async () => {
    const shelf = shelfOf(["a", 1, false]);
    const waiting = shelf.idle(new AbortController().signal);
    const later = Promise.resolve("waits");
    expect(await Promise.race([waiting, later])).toBe("waits");
    shelf.put(statementOf("a", 1, true), 1);
    await expect(waiting).resolves.toBeUndefined();
  });

  it("resolves when its signal is aborted", async () => {
    const shelf = shelfOf(["a", 1, false]);
    const deadline = new AbortController();
    const waiting = shelf.idle(deadline.signal);
    deadline.abort();
    await expect(waiting).resolves.toBeUndefined();
  });
});

type Facts = readonly [id: string, bytes: number, over: boolean];

function shelfOf(...statements: readonly Facts[]) {
  const shelf = new Shelf<ReturnType<typeof statementOf>>(limits);
  for (const facts of statements) shelf.put(statementOf(...facts), 0);
  return shelf;
}

function statementOf(...[id, retainedBytes, over]: Facts) {
  return { id: id as QueryId, retainedBytes, over };
}

function has(shelf: ReturnType<typeof shelfOf>, id: string): boolean {
  return shelf.get(id as QueryId) !== undefined;
}
