import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionOf } from "../rig/session.ts";
import { tagIn } from "./tag.ts";
import type { Identified } from "./query.ts";
import { shownTags, statementComment, taggedText, tagsIn } from "./tagText.ts";

describe("tagsIn", () => {
  it.each<readonly [string, readonly (readonly [string, string])[]]>([
    ["", []],
    [
      "team:data, job : nightly ",
      [
        ["team", "data"],
        ["job", "nightly"],
      ],
    ],
    [
      "urgent,a:b:c,a:d",
      [
        ["urgent", ""],
        ["a", "d"],
      ],
    ],
    [",:x, :y", []],
    ["gateway/a:b,a:gateway/b,c:d", [["c", "d"]]],
    [`${"n".repeat(300)}:1,a:${"v".repeat(300)},b:2`, [["b", "2"]]],
  ])("reads of %j the tags %j", (text, tags) => {
    expect([...tagsIn(text)]).toEqual(tags);
  });

  it("takes fifty and no more", () => {
    const text = Array.from({ length: 60 }, (_, at) => `t${at}:1`).join(",");
    expect(tagsIn(text).size).toBe(50);
  });
});

describe("statementComment", () => {
  it("has the gateway's own tag alone, then the client's", () => {
    expect(statementComment(asked(new Map()))).toBe("/* gateway/i/l/q */ ");
    const tags = new Map([
      ["team", "data"],
      ["a b", "ü*/"],
      ["urgent", ""],
    ]);
    expect(statementComment(asked(tags))).toBe(
      "/* gateway/i/l/q */ /* team=data,a%20b=%C3%BC%2A%2F,urgent */ ",
    );
    expect(taggedText(asked(tags))).toBe("gateway/i/l/q team=data,a%20b=%C3%BC%2A%2F,urgent");
  });

  it("is ended by nothing that a client may write, and shows the gateway's tag first", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }))),
        (pairs) => {
          const tags = new Map(pairs);
          expect(shownTags(tags)).toMatch(/^[A-Za-z0-9_.%=,-]*$/);
          expect(shownTags(tags).length).toBeLessThan(501);
          expect(tagIn(statementComment(asked(tags)))).toBe("gateway/i/l/q");
        },
      ),
    );
  });
});

function asked(tags: ReadonlyMap<string, string>): Pick<Identified, "slot" | "id" | "session"> {
  const slot = { holder: "i/l" } as Identified["slot"];
  return { slot, id: "q" as Identified["id"], session: sessionOf({ tags }) };
}
