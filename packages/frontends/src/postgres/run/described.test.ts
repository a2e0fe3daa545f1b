import { columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import {
  describeOf,
  fieldsOf,
  letters,
  parseOf,
  queryOf,
  RawClient,
  sync,
} from "../rig/rawClient.ts";
import { int32, resultOf, served } from "../rig/served.ts";

describe("a result of more columns than a message can count", () => {
  it("is an error, and the connection goes on", async () => {
    const wide = Array.from({ length: 32_768 }, (_, index) => columnOf(`c${index}`, int32));
    const one = resultOf([columnOf("one", int32)], [1n]);
    await using server = await served({
      answers: { "select wide": resultOf(wide), "select 1": one },
    });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("select wide"));
    const refused = await client.until("Z");
    expect(letters(refused)).toMatch(/^S*EZ$/);
    const error = refused.find(({ type }) => type === "E");
    expect(error && fieldsOf(error)).toMatchObject({ C: "54011" });
    client.send(queryOf("select 1"));
    expect(letters(await client.until("Z"))).toMatch(/^S*TDCZ$/);
  });

  it("is an error where an engine describes it, before anything runs", async () => {
    const columns = Array.from({ length: 32_768 }, (_, index) => columnOf(`c${index}`, int32));
    await using server = await served({
      answers: {},
      descriptions: { "select wide": { parameters: [], columns } },
    });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("wide", "select wide"), describeOf("S", "wide"), sync);
    const refused = await client.until("Z");
    expect(letters(refused)).toMatch(/^S*1EZ$/);
    const error = refused.find(({ type }) => type === "E");
    expect(error && fieldsOf(error)).toMatchObject({ C: "54011" });
    expect(server.door.queries).toEqual([]);
  });
});
