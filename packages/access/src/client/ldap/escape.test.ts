import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EqualityFilter, FilterParser } from "ldapts";
import { comparedWithName, filled, filterValue, nameValue } from "./escape.ts";

describe("filterValue", () => {
  it("escapes what RFC 4515 says, and leaves letters of any script alone", () => {
    expect(filterValue("a*(b)\\c\0")).toBe("a\\2a\\28b\\29\\5cc\\00");
    expect(filterValue("\u001f\u007f")).toBe("\\1f\\7f");
    expect(filterValue("zoë 日本")).toBe("zoë 日本");
  });

  it("keeps any text one value of one comparison", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
        const filter = FilterParser.parseString(filled("(uid={})", { "{}": filterValue(text) }));
        expect(filter).toEqual(new EqualityFilter({ attribute: "uid", value: text }));
      }),
    );
  });
});

describe("filled", () => {
  it("leaves a placeholder alone for which there is nothing", () => {
    expect(filled("(member={dn})(uid={})", { "{}": "a" })).toBe("(member={dn})(uid=a)");
  });
});

describe("nameValue", () => {
  it("escapes what RFC 4514 says, and spaces wherever they are", () => {
    expect(nameValue(' a,b+c"d\\e<f>g;h=i#')).toBe(
      "\\20a\\2cb\\2bc\\22d\\5ce\\3cf\\3eg\\3bh\\3di\\23",
    );
  });

  it("lets no text end its part of a name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(nameValue(text)).not.toMatch(/[,+"<>;=# ]|\\(?![0-9a-f]{2})/);
      }),
    );
  });
});

describe("filled", () => {
  it("puts values in as they are, once", () => {
    const places = { "{}": "$& {dn}", "{dn}": "x" };
    expect(filled("(|(uid={})(member={dn}))", places)).toBe("(|(uid=$& {dn})(member=x))");
  });
});

describe("comparedWithName", () => {
  it("names the attributes in their order", () => {
    expect(comparedWithName("(&(objectClass=person)(|(uid={})(mail={})))")).toEqual([
      "uid",
      "mail",
    ]);
  });
});
