import { describe, expect, it } from "vitest";
import { resolveAll } from "./resolve.ts";

describe("resolveAll", () => {
  it("answers an address as itself, and nothing for what can not be a name", async () => {
    expect(await resolveAll("127.0.0.1")).toEqual(["127.0.0.1"]);
    expect(await resolveAll("::1")).toEqual(["::1"]);
    expect(await resolveAll("no such name")).toEqual([]);
  });
});
