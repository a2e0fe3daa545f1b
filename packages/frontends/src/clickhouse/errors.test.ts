import { errorCodes } from "@gateway/contract/error.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { exceptionBlock, exceptionText } from "@gateway/wire/clickhouse/exception.ts";
import { describe, expect, it } from "vitest";
import { refusalOf } from "./errors.ts";

/** How clients read an exception. Source: @clickhouse/client and clickhouse-connect. */
const read = /^Code: (\d+)\. DB::Exception: (.+) \(([A-Z0-9_]+)\) \(version /s;

describe("refusalOf", () => {
  it("gives every code a number, a name and a status, in the form that clients read", () => {
    for (const code of errorCodes) {
      const refusal = refusalOf(gatewayError(code));
      const [, number, , name] = read.exec(exceptionText(refusal)) ?? [];
      expect([number, name]).toEqual([String(refusal.code), refusal.name]);
      expect(refusal.status).toBeGreaterThanOrEqual(400);
    }
  });

  it("is what a ClickHouse behind the gateway said, with its name once", () => {
    const vendor = { of: "clickHouse", code: 395, name: "FUNCTION_THROW_IF" } as const;
    const message = "Value is wrong. (FUNCTION_THROW_IF)";
    const refusal = refusalOf(gatewayError("engine.failed", { message, vendor }));
    expect(refusal).toEqual({
      code: 395,
      name: "FUNCTION_THROW_IF",
      message: "Value is wrong.",
      status: 500,
    });
  });

  it("takes a finer name from an engine's SQLSTATE where the statement is to blame", () => {
    const missing = gatewayError("query.unknownObject", { sqlState: "42P01" });
    expect(refusalOf(missing)).toMatchObject({ name: "UNKNOWN_TABLE", status: 404 });
    const hidden = gatewayError("engine.failed", { sqlState: "42P01" });
    expect(refusalOf(hidden).name).toBe("UNKNOWN_EXCEPTION");
  });
});

describe("exceptionBlock", () => {
  it("says how long its text is, so that a client finds it behind the rows", () => {
    const block = exceptionBlock("0123456789abcdef", refusalOf(gatewayError("query.cancelled")));
    const [, text = "", length] =
      /^\r\n__exception__\r\n0123456789abcdef\r\n([\s\S]+\n)(\d+) 0123456789abcdef\r\n__exception__\r\n$/.exec(
        block,
      ) ?? [];
    expect(Buffer.byteLength(text)).toBe(Number(length));
  });
});
