import { describe, expect, it } from "vitest";
import { errorOf, errorOfStatus, readFailure } from "./errors.ts";
import type { Caller } from "./identity.ts";

const own: Caller = {
  mode: "serviceAccount",
  group: undefined,
  headers: {},
  authorization: undefined,
};
const user: Caller = { ...own, mode: "impersonate", group: "web" };

const failureOf = (errorName: string, errorType: string, more: object = {}) =>
  readFailure({ message: "it failed", errorName, errorType, errorCode: 7, ...more });

describe("errorOf", () => {
  it("knows what is missing, refused and too much by its name", () => {
    const codes = Object.fromEntries(
      [
        "TABLE_NOT_FOUND",
        "PERMISSION_DENIED",
        "DIVISION_BY_ZERO",
        "EXCEEDED_TIME_LIMIT",
        "NOT_SUPPORTED",
        "USER_CANCELED",
      ].map((name) => [name, errorOf(failureOf(name, "USER_ERROR"), undefined, own).code]),
    );
    expect(codes).toEqual({
      TABLE_NOT_FOUND: "query.unknownObject",
      PERMISSION_DENIED: "query.permission",
      DIVISION_BY_ZERO: "query.data",
      EXCEEDED_TIME_LIMIT: "query.timeout",
      NOT_SUPPORTED: "query.unsupported",
      USER_CANCELED: "query.cancelled",
    });
  });

  it("knows a name that is new by its type", () => {
    expect(errorOf(failureOf("NEW", "USER_ERROR"), undefined, own).code).toBe("query.invalid");
    const resources = errorOf(failureOf("NEW", "INSUFFICIENT_RESOURCES"), undefined, own);
    expect(resources.code).toBe("engine.resources");
  });

  it("keeps messages of the engine's own faults to itself", () => {
    for (const type of ["INTERNAL_ERROR", "EXTERNAL", ""]) {
      const error = errorOf(
        failureOf("NEW", type, { message: "at 10.0.0.7:8080" }),
        undefined,
        own,
      );
      expect(error.code).toBe("engine.failed");
      expect(JSON.stringify(error)).not.toContain("10.0.0.7");
      expect(error.detail).toBe("NEW 7");
    }
  });

  it("counts positions in UTF-16 units of the text, lines and all", () => {
    const at = (lineNumber: number, columnNumber: number) =>
      errorOf(
        failureOf("SYNTAX_ERROR", "USER_ERROR", {
          message: "line 2:4: mismatched input",
          errorLocation: { lineNumber, columnNumber },
        }),
        "select\n'\u{1f600}' selec",
        own,
      );
    expect(at(2, 4)).toMatchObject({ position: 12, message: "mismatched input" });
    expect(at(1, 1).position).toBe(1);
    expect(at(9, 1).position).toBeUndefined();
  });

  it("reads an error of any form without a throw", () => {
    for (const error of [undefined, null, 1, "x", [], { errorLocation: 1 }]) {
      expect(errorOf(readFailure(error), "x", own).code).toBe("engine.failed");
    }
  });

  it("says that the identity was refused, and nothing of what Trino said", () => {
    const message = "Access Denied: User svc cannot impersonate user alice";
    const refused = failureOf("PERMISSION_DENIED", "USER_ERROR", { message });
    for (const error of [errorOf(refused, "x", user), errorOfStatus(401, user)]) {
      expect(error.code).toBe("auth.noBackendIdentity");
      expect(error.message).toContain("impersonate");
      expect(error.message).toContain("web");
      expect(JSON.stringify(error)).not.toMatch(/svc|alice/);
    }
  });

  it("keeps what Trino says of a table that the user may not read", () => {
    const message = "Access Denied: Cannot select from table t";
    const denied = failureOf("PERMISSION_DENIED", "USER_ERROR", { message });
    expect(errorOf(denied, "x", user)).toMatchObject({ code: "query.permission", message });
  });

  it("counts headers that are too large for the server against nobody's cluster", () => {
    expect(errorOfStatus(431, user).code).toBe("query.invalid");
  });
});
