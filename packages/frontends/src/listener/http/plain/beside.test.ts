import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Chance } from "@gateway/wire/http/rig/responses.ts";
import { connectionBy, plainBy, sideOf, type Side } from "./rig/beside.ts";

describe("plain requests beside node:http", () => {
  let ours: Side;
  let theirs: Side;
  beforeAll(async () => {
    ours = await sideOf(true);
    theirs = await sideOf(false);
  });
  afterAll(async () => {
    await ours[Symbol.asyncDispose]();
    await theirs[Symbol.asyncDispose]();
  });

  it("are answered byte for byte the same, and so is whatever comes behind them", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const chance = new Chance(seed);
    for (let count = 0; count < 600; count += 1) {
      const pieces = connectionBy(chance);
      const answers = await Promise.all([ours.answer(pieces), theirs.answer(pieces)]);
      expect(answers[0], `seed ${seed}: ${JSON.stringify(pieces)}`).toEqual(answers[1]);
    }
    // Near two hundred are: chance never brings so few.
    expect(ours.plain()).toBeGreaterThan(100);
    expect(theirs.plain()).toBe(0);
  });

  it("are all read here, also where the body comes behind the head", async () => {
    const chance = new Chance(7);
    const before = ours.plain();
    for (let count = 0; count < 50; count += 1) await ours.answer([plainBy(chance)]);
    expect(ours.plain() - before).toBe(50);
    const head = "POST /ab HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n";
    const pieces = [head, "SELECT 1", head, "SELECT 2"];
    const answers = await Promise.all([ours.answer(pieces), theirs.answer(pieces)]);
    expect(answers[0]).toEqual(answers[1]);
    expect(ours.plain() - before).toBe(52);
  });
});
