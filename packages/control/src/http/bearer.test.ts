import { describe, expect, it } from "vitest";
import { bearerOf } from "./bearer.ts";

describe("bearerOf", () => {
  it("reads the token behind the scheme, however that is spelled", () => {
    expect(bearerOf(requestOf("Bearer abc"))).toBe("abc");
    expect(bearerOf(requestOf("bEARER  a b=/+$"))).toBe("a b=/+$");
  });

  it("answers nothing for other schemes, an empty token and no header", () => {
    for (const header of ["Basic YTpi", "Bearer", "Bearer ", "abc", "xBearer abc"]) {
      expect(bearerOf(requestOf(header))).toBeUndefined();
    }
    expect(bearerOf(new Request("http://control/"))).toBeUndefined();
  });
});

function requestOf(authorization: string): Request {
  return new Request("http://control/", { headers: { authorization } });
}
