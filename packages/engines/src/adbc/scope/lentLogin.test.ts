import { describe, expect, it } from "vitest";
import { LentLogin } from "./lentLogin.ts";

describe("LentLogin", () => {
  it("knows the login while somebody is at work, and forgets it with the last one", () => {
    const login = new LentLogin<string>();
    expect(login.current).toBeUndefined();
    const first = login.lend("secret");
    const second = login.lend("secret");
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(login.current).toBe("secret");
    second[Symbol.dispose]();
    expect(login.current).toBeUndefined();
  });
});
