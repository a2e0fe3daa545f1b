import { describe, expect, it } from "vitest";
import type { Session } from "../../query/query.ts";
import { queryOf } from "../rig/plane.ts";
import { withAskedTags } from "./askedTags.ts";

const tagsOf = (sql: string, session: Partial<Session> = {}, comments = true) =>
  Object.fromEntries(withAskedTags(queryOf(sql, session), comments).session.tags);

describe("withAskedTags", () => {
  it.each<readonly [string, object]>([
    ["/* gateway.tags=team:data,job:nightly */ SELECT 1", { team: "data", job: "nightly" }],
    ["-- gateway.tags = team:data\nSELECT 1", { team: "data" }],
    ["/* why */ /*gateway.tags=a:b*/ SELECT 1", { a: "b" }],
    ["SELECT 1 /* gateway.tags=a:b */", {}],
    ["SELECT '/* gateway.tags=a:b */'", {}],
    ["/* tags=a:b */ SELECT 1", {}],
    ["/* gateway.tags=a:gateway/x */ SELECT 1", {}],
  ])("reads of %s the tags %j", (sql, tags) => {
    expect(tagsOf(sql)).toEqual(tags);
  });

  it("reads no comment unless it was allowed, and none of an agent", () => {
    const sql = "/* gateway.tags=a:b */ SELECT 1";
    expect(tagsOf(sql, {}, false)).toEqual({});
    expect(tagsOf(sql, { frontend: "mcp" })).toEqual({});
  });

  it("reads the header of a statement without a comment", () => {
    const headers = new Map([["x-gateway-tags", "a:header"]]);
    expect(tagsOf("SELECT 1", { headers })).toEqual({ a: "header" });
  });

  it("puts a comment before the header, and the header before the session", () => {
    const session = {
      tags: new Map([
        ["a", "session"],
        ["b", "session"],
        ["c", "session"],
      ]),
      headers: new Map([["x-gateway-tags", "a:header,b:header"]]),
    };
    expect(tagsOf("/* gateway.tags=a:comment */ SELECT 1", session)).toEqual({
      a: "comment",
      b: "header",
      c: "session",
    });
  });

  it("leaves a query without them as it is", () => {
    const query = queryOf("SELECT 1");
    expect(withAskedTags(query, true)).toBe(query);
  });
});
