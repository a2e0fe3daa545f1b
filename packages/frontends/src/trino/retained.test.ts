import { describe, expect, it } from "vitest";
import { Retained, type Retaining } from "./retained.ts";

const limits = { bytesMax: 30_000, overMs: 60, forgottenMs: 480 };

describe("Retained.polled", () => {
  it("gives up finished statements first and oldest first when there is too much", () => {
    const retained = new Retained(limits);
    const running = statementOf(10_000);
    const [oldest, middle, youngest] = [1, 2, 3].map(() => statementOf(10_000, true));
    for (const statement of [running, oldest, middle, youngest]) {
      if (statement !== undefined) retained.polled(statement, 0);
    }
    expect(retained.bytes).toBe(30_000);
    expect(oldest?.released).toBe(true);
    expect([running, middle, youngest].some((statement) => statement?.released)).toBe(false);
  });

  it("never gives up what an unfinished statement keeps, and then has no room to build ahead", () => {
    const retained = new Retained(limits);
    const statements = Array.from({ length: 4 }, () => statementOf(10_000));
    for (const statement of statements) retained.polled(statement, 0);
    expect(statements.some((statement) => statement.released)).toBe(false);
    expect(retained.hasRoom).toBe(false);
  });

  it("gives up a finished statement after its time and a forgotten one after its own", () => {
    const retained = new Retained(limits);
    const finished = statementOf(10_000, true);
    const forgotten = statementOf(10_000);
    retained.polled(finished, 0);
    retained.polled(forgotten, 0);
    retained.polled(statementOf(1), 60);
    expect([finished.released, forgotten.released]).toEqual([true, false]);
    retained.polled(statementOf(1), 480);
    expect(forgotten.released).toBe(true);
    expect(retained.bytes).toBe(0);
  });

  it("counts a statement once, with what it keeps now", () => {
    const retained = new Retained(limits);
    const statement = statementOf(10_000);
    retained.polled(statement, 0);
    statement.retainedBytes = 5000;
    retained.polled(statement, 1);
    expect(retained.bytes).toBe(5000);
    statement.retainedBytes = 0;
    retained.polled(statement, 2);
    expect(retained.bytes).toBe(0);
  });
});

function statementOf(bytes: number, over = false) {
  const statement = {
    retainedBytes: bytes,
    over,
    released: false,
    release(): void {
      statement.released = true;
    },
  };
  return statement satisfies Retaining;
}
