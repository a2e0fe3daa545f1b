import { errorCodes } from "@gateway/contract/error.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import { queryError, trinoErrors } from "./errors.ts";

describe("trinoErrors", () => {
  it("answers a request with a status only where no query is to blame", () => {
    const statuses = Object.fromEntries(
      errorCodes
        .map((code) => [code, trinoErrors[code].status] as const)
        .filter(([, status]) => status !== 200),
    );
    expect(statuses).toEqual({
      "config.notReady": 503,
      "gateway.draining": 503,
      "auth.required": 401,
      "auth.refused": 401,
      "auth.cleartext": 403,
      "auth.expired": 401,
      "auth.unavailable": 503,
      "connection.limit": 503,
      "query.unknown": 404,
      "query.elsewhere": 503,
      "protocol.violation": 400,
      "protocol.tooLarge": 413,
      "protocol.timeout": 408,
    });
  });
});

describe("queryError", () => {
  it("is what a Trino behind the gateway called it, and never what another engine did", () => {
    const trino = { of: "trino", name: "HIVE_BAD_DATA", code: 16777220, type: "EXTERNAL" } as const;
    const broken = queryError(gatewayError("engine.failed", { vendor: trino }), undefined);
    expect(broken).toMatchObject({
      errorName: "HIVE_BAD_DATA",
      errorCode: 16777220,
      errorType: "EXTERNAL",
    });
    const mysql = { of: "mysql", code: 1146, sqlState: "42S02" } as const;
    const missing = queryError(gatewayError("query.unknownObject", { vendor: mysql }), undefined);
    expect(missing.errorName).toBe("NOT_FOUND");
  });

  it("carries Trino's own number, name and type for every code", () => {
    for (const code of errorCodes) {
      const error = queryError(gatewayError(code), undefined);
      expect(error.errorName).toBe(trinoErrors[code].name);
      const block = { USER_ERROR: 0, INTERNAL_ERROR: 1, INSUFFICIENT_RESOURCES: 2, EXTERNAL: 3 };
      expect(error.errorCode >> 16).toBe(block[error.errorType]);
    }
  });

  it("counts the position in lines and columns of the client's text, from 1", () => {
    const error = gatewayError("query.syntax", { message: "mismatched input", position: 12 });
    expect(queryError(error, "SELECT 1\n, x FROM")).toMatchObject({
      message: "line 2:3: mismatched input",
      errorLocation: { lineNumber: 2, columnNumber: 3 },
    });
    const text = "SELECT '\u{1f600}', x";
    const behind = gatewayError("query.syntax", { position: text.indexOf("x") + 1 });
    expect(queryError(behind, text).errorLocation?.columnNumber).toBe(13);
  });

  it("leaves a position out that is not one of the client's text", () => {
    const error = gatewayError("query.syntax", { position: 99 });
    expect(queryError(error, "SELECT 1")).not.toHaveProperty("errorLocation");
    expect(queryError(error, undefined).message).toBe(error.message);
  });

  it("tells objects and values apart by the engine's SQLSTATE, and nothing else", () => {
    type Code = "query.unknownObject" | "query.data" | "query.invalid" | "engine.failed";
    const name = (code: Code, sqlState: string) =>
      queryError(gatewayError(code, { sqlState }), undefined).errorName;
    expect(name("query.unknownObject", "42P01")).toBe("TABLE_NOT_FOUND");
    expect(name("query.unknownObject", "99999")).toBe("NOT_FOUND");
    expect(name("query.data", "22012")).toBe("DIVISION_BY_ZERO");
    expect(name("query.invalid", "42P07")).toBe("TABLE_ALREADY_EXISTS");
    expect(name("query.invalid", "42804")).toBe("TYPE_MISMATCH");
    expect(name("engine.failed", "42P01")).toBe("GENERIC_INTERNAL_ERROR");
  });

  it("never shows the detail", () => {
    const error = gatewayError("internal.bug", { detail: "for operators" });
    expect(JSON.stringify(queryError(error, "SELECT 1"))).not.toContain("for operators");
  });
});
