/** What a client asked of its transaction, and what Trino is asked for it. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeTrino, type FakeTrino } from "../../../../test/fake/trino.ts";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { trinoConfig } from "./config.ts";

let fake: FakeTrino;
beforeEach(async () => {
  fake = await fakeTrino();
});
afterEach(async () => {
  await fake[Symbol.asyncDispose]();
});

describe("beginTransaction", () => {
  it.each([
    ["begin", "START TRANSACTION"],
    ["begin read only", "START TRANSACTION READ ONLY"],
    ["start transaction read write", "START TRANSACTION READ WRITE"],
    [
      "begin isolation level read uncommitted, read only",
      "START TRANSACTION ISOLATION LEVEL READ UNCOMMITTED, READ ONLY",
    ],
    [
      "begin transaction isolation level\n repeatable /* a */ read",
      "START TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    ],
    ["begin isolation level serializable", "START TRANSACTION ISOLATION LEVEL SERIALIZABLE"],
    ["begin /* read only */", "START TRANSACTION"],
    ["begin -- isolation level serializable", "START TRANSACTION"],
    ["begin read /* read write */ only", "START TRANSACTION READ ONLY"],
  ])("asks for what %j says outside of comments", async (sql, asked) => {
    const config = trinoConfig.parse({ engine: "trino", endpoint: fake.origin });
    await using backend = valueOf(await open("modes", config, hostOf()));
    fake.seen.length = 0;
    const query = identifiedOf(sql, [], { dialect: "postgres" });
    await using _lane = valueOf(await backend.begin(query, never));
    expect(fake.seen.find(({ method }) => method === "POST")?.body).toBe(asked);
  });
});
