import { setImmediate as turn } from "node:timers/promises";
import { slicesOf } from "@gateway/core/tool/slices.ts";
import { describe, expect, it } from "vitest";
import { suiteHost } from "../rig/host.ts";
import { LongTexts, type LongText } from "./longTexts.ts";

const units = 100_000;
const { slices } = suiteHost();

describe("LongTexts", () => {
  it("lets a short text go on at once", () => {
    expect(new LongTexts().admit(textOf({ sql: "select 1" }), slices)).toBeUndefined();
  });

  it("reads one after the other, in turns by user", async () => {
    const texts = new LongTexts();
    const ended: string[] = [];
    // Each text is one slice where no time passes.
    const still = slicesOf({ othersServed: () => turn(), rested: () => turn(), nowMs: () => 0 });
    const admit = async (user: string, name: string) => {
      expect(await texts.admit(textOf({ user }), still)).toBeUndefined();
      ended.push(name);
    };
    await Promise.all([
      admit("ann", "a1"),
      admit("ann", "a2"),
      admit("ann", "a3"),
      admit("bob", "b1"),
      admit("eve", "e1"),
    ]);
    expect(ended).toEqual(["a1", "a2", "b1", "e1", "a3"]);
    expect(texts.units).toBe(0);
  });

  it("gives others many turns while it reads one", async () => {
    const texts = new LongTexts();
    let turns = 0;
    let reading = true;
    const others = (): void => {
      turns += 1;
      if (reading) setImmediate(others);
    };
    others();
    await texts.admit(textOf({ sql: `select ${"a,".repeat(100_000)}b` }), slices);
    reading = false;
    expect(turns).toBeGreaterThan(40);
  });

  it("refuses what one user sends beyond half of the room, and still takes another's", async () => {
    const texts = new LongTexts(4 * units);
    const answers = await Promise.all([
      texts.admit(textOf({ user: "ann" }), slices),
      texts.admit(textOf({ user: "ann" }), slices),
      texts.admit(textOf({ user: "ann" }), slices),
      texts.admit(textOf({ user: "bob" }), slices),
      texts.admit(textOf({ user: "eve" }), slices),
      texts.admit(textOf({ user: "kim" }), slices),
    ]);
    const codes = answers.map((answer) => answer?.code);
    const full = "capacity.statementText";
    expect(codes).toEqual([undefined, undefined, full, undefined, undefined, full]);
    expect(texts.units).toBe(0);
    expect(await texts.admit(textOf({ user: "ann" }), slices)).toBeUndefined();
  });

  it("reads one text that is longer than the room, when it is alone", async () => {
    const texts = new LongTexts(units / 2);
    expect(await texts.admit(textOf({}), slices)).toBeUndefined();
  });

  it("refuses a text of too many tokens, also a short one", async () => {
    const texts = new LongTexts();
    const limits = { maxStatementTokens: 1024 };
    const refusal = await texts.admit(
      textOf({ sql: `select ${"1,".repeat(1024)}1`, limits }),
      slices,
    );
    expect(refusal).toMatchObject({ code: "query.textTooLarge", sqlState: "54001" });
    expect(refusal?.message).toContain("1024 tokens");
  });

  it("reads nothing more for a client that left", async () => {
    const client = { over: false };
    const reading = new LongTexts().admit(
      textOf({ sql: `select ${"1,".repeat(90_000)}1`, client }),
      slices,
    );
    client.over = true;
    expect(await reading).toMatchObject({ code: "query.cancelled" });
  });

  it("refuses bytes beyond the room before it decodes any of them", async () => {
    const texts = new LongTexts(4 * units);
    let pieces = 0;
    const decode = (user: string, client = { over: false }) =>
      texts.decode(
        Buffer.alloc(units, "a"),
        (piece) => ((pieces += 1), String(piece)),
        { user, client },
        slices,
      );
    const gone = { over: true };
    const waiting = [decode("ann"), decode("ann"), decode("bob", gone)];
    expect(texts.units).toBe(3 * units);
    expect(await decode("ann")).toMatchObject({ error: { code: "capacity.statementText" } });
    expect(await texts.admit(textOf({ user: "ann" }), slices)).toMatchObject({
      code: "capacity.statementText",
    });
    expect(pieces).toBeLessThanOrEqual(1);
    const text = "a".repeat(units);
    expect(await Promise.all(waiting)).toMatchObject([
      { value: { text } },
      { value: { text } },
      { error: { code: "query.cancelled" } },
    ]);
    expect(texts.units).toBe(0);
    expect(await decode("ann")).toMatchObject({ ok: true });
  });
});

function textOf(more: Partial<LongText>): LongText {
  return {
    sql: `select '${"x".repeat(units - 9)}'`,
    dialect: "postgres",
    limits: { maxStatementTokens: 250_000 },
    user: "ann",
    client: { over: false },
    ...more,
  };
}
