import { describe, expect, it } from "vitest";
import {
  bindOf,
  describeOf,
  executeOf,
  fieldsOf,
  flush,
  letters,
  parseOf,
  RawClient,
  sync,
} from "../rig/rawClient.ts";
import { column, resultOf, served } from "../rig/served.ts";

const script = {
  answers: { "select 1": resultOf(column("n"), [1n]) },
  descriptions: { "select 1": { parameters: [], columns: column("n") } },
};
const limit = { statement_timeout: "5s" };

const none = [] as const;

describe("a client that takes longer over a statement than its own limit of one", () => {
  it.each([
    ["Parse", [parseOf("kept", "select 1"), flush], "1", [describeOf("S", "kept")]],
    ["Bind", [parseOf("", "select 1"), bindOf(), flush], "2", [executeOf()]],
    ["the last message", [parseOf("", "select 1"), bindOf(), flush], "2", none],
  ])("hears of it behind %s, with the next message", async (_where, begun, answer, rest) => {
    await using server = await served(script);
    await using client = await RawClient.start(server.port, limit);
    client.send(...begun);
    await client.until(answer);
    await server.host.advance(5001);
    client.send(...rest, sync);
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("EZ");
    expect(seen[0] && fieldsOf(seen[0])).toMatchObject({
      S: "ERROR",
      C: "57014",
      M: "canceling statement due to statement timeout",
    });
    client.send(parseOf("", "select 1"), bindOf(), executeOf(), sync);
    expect(letters(await client.until("Z"))).toMatch(/^12S?DCZ$/);
  });

  it("has prepared what it was told of", async () => {
    await using server = await served(script);
    await using client = await RawClient.start(server.port, limit);
    client.send(parseOf("kept", "select 1"), flush);
    await client.until("1");
    await server.host.advance(5001);
    client.send(describeOf("S", "kept"), sync);
    await client.until("Z");
    client.send(bindOf({ statement: "kept" }), executeOf(), sync);
    expect(letters(await client.until("Z"))).toMatch(/^2S?DCZ$/);
  });

  it.each([
    ["owes no more than the end of a series", limit, [bindOf(), executeOf(), flush], "C"],
    ["took less", { statement_timeout: "90s" }, [bindOf(), flush], "2"],
    ["has no limit", {}, [bindOf(), flush], "2"],
  ])("hears of nothing where it %s", async (_why, settings, sent, last) => {
    await using server = await served(script);
    await using client = await RawClient.start(server.port, settings);
    client.send(parseOf("", "select 1"), ...sent);
    await client.until(last);
    await server.host.advance(60_000);
    client.send(sync);
    expect(letters(await client.until("Z"))).toBe("Z");
  });
});
