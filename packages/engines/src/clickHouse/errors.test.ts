import { describe, expect, it } from "vitest";
import { errorOf, readException } from "./errors.ts";
import { account } from "./identity.ts";

const own = { shown: undefined, caller: account, shiftBytes: 0 };

const said = (text: string, header?: string) => readException(text, header);

describe("errorOf", () => {
  it("says where a text is broken in UTF-16 units", () => {
    const sql = "select '\u00e9\u{1f600}' selec from";
    const exception = said(
      "Code: 62. DB::Exception: Syntax error: failed at position 17 (selec): selec. (SYNTAX_ERROR)",
    );
    expect(errorOf(exception, { ...own, shown: sql })).toMatchObject({
      code: "query.syntax",
      position: 14,
    });
  });

  it("never shows what the server says of the service account, and knows no number by its text", () => {
    const refused = errorOf(
      said("Code: 516. DB::Exception: gateway: Authentication failed: password is incorrect. (A)"),
      own,
    );
    expect(refused.code).toBe("cluster.connectFailed");
    expect(JSON.stringify(refused)).not.toContain("password");
    const unknown = errorOf(said("Code: 999999. DB::Exception: secret things. (B)"), own);
    expect(unknown).toMatchObject({ code: "engine.failed", detail: "code 999999" });
    expect(JSON.stringify(unknown)).not.toContain("secret");
  });

  it("takes the number of the header over the text's, and leaves the version out", () => {
    const exception = said(
      "Code: 1. DB::Exception: Table t is not there. (X) (version 26.7.1.2 (official build))",
      "60",
    );
    expect(exception).toEqual({ number: 60, message: "Table t is not there. (X)" });
  });
});
