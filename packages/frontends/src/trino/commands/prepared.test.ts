import { longTexts } from "../../listener/longTexts.ts";
import { suiteHost } from "../../rig/host.ts";
import { describe, expect, it } from "vitest";
import { immediateAhead } from "./prepared.ts";

describe("immediateAhead", () => {
  const limits = { maxStatementTokens: 50_000 };
  const admit = (sql: string) => {
    const text = { sql, dialect: "trino", also: immediateAhead, limits, user: "ann" } as const;
    return longTexts.admit({ ...text, client: { over: false } }, suiteHost().slices);
  };
  const immediate = (units: string) => `execute immediate 'select ${units} 1' using 1`;

  it("counts the tokens of the statement in the string, which are one token of the text", async () => {
    const most = "1,".repeat(24_000).padEnd(70_000);
    expect(await admit(immediate(most))).toBeUndefined();
    const refusal = await admit(immediate("1,".repeat(50_000)));
    expect(refusal).toMatchObject({ code: "query.textTooLarge" });
  });

  it("reads the statement in steps, with its places and as it is sent on", () => {
    const stepsOf = (sql: string) => {
      const steps = immediateAhead(sql, 1_000_000);
      let count = 0;
      while (steps.next().done !== true) count += 1;
      return count;
    };
    const once = stepsOf(immediate("1,".repeat(50_000)));
    expect(once).toBeGreaterThan(150);
    expect(stepsOf(immediate("?,".repeat(50_000)))).toBeGreaterThan(once);
    expect(stepsOf(`select '${"1,".repeat(50_000)}'`)).toBe(0);
  });

  it("leaves alone what is no statement in a string", async () => {
    const words = "a ".repeat(40_000 / 2);
    for (const sql of [
      `execute immediate ${words.padEnd(70_000)}`,
      `execute ${words.padEnd(70_000)}`,
    ]) {
      expect(await admit(sql)).toBeUndefined();
    }
  });
});
