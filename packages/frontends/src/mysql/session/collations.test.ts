import { describe, expect, it } from "vitest";
import { charsetOf, comparingAt } from "./charset.ts";
import { collationNamed } from "./collations.ts";

describe("the collation of a handshake", () => {
  it.each([
    [48, "latin1_general_ci", "latin1"],
    [65, "ascii_bin", "ascii"],
    [63, "binary", "binary"],
    [192, "utf8mb3_unicode_ci", "utf8mb3"],
    [215, "utf8mb3_vietnamese_ci", "utf8mb3"],
    [224, "utf8mb4_unicode_ci", "utf8mb4"],
    [246, "utf8mb4_unicode_520_ci", "utf8mb4"],
    [58, "cp1257_bin", "cp1257"],
    [7, "koi8r_general_ci", "koi8r"],
    [1, "big5_chinese_ci", "big5"],
    [88, "sjis_bin", "sjis"],
    [95, "cp932_japanese_ci", "cp932"],
    [250, "gb18030_unicode_520_ci", "gb18030"],
    [3, undefined, "utf8mb4"],
  ])("%s is %s, and what a client writes is %s", (id, name, charset) => {
    expect(collationNamed(id)).toBe(name);
    expect(charsetOf(id).name).toBe(charset);
  });

  it("is how texts are compared", () => {
    expect(comparingAt(48).get("collation_connection")).toBe("latin1_general_ci");
    expect(comparingAt(246).get("names")).toBe("utf8mb4 COLLATE utf8mb4_unicode_520_ci");
  });
});
