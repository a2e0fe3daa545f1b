import { errorCodes } from "@gateway/contract/error.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import { mcpErrors, refusalBody, toldError } from "./errors.ts";

describe("mcpErrors", () => {
  it("keeps to the numbers that JSON-RPC leaves to servers, and to those it gives a meaning", () => {
    for (const code of errorCodes) {
      const { rpc } = mcpErrors[code];
      const isOurs = rpc <= -32000 && rpc > -32100;
      expect(isOurs || [-32600, -32603].includes(rpc)).toBe(true);
    }
  });

  it("refuses requests as a whole only where no statement is to blame", () => {
    const refusing = errorCodes.filter((code) => mcpErrors[code].status !== 200);
    expect(refusing).toEqual([
      "config.notReady",
      "gateway.draining",
      "internal.bug",
      "auth.required",
      "auth.refused",
      "auth.cleartext",
      "auth.expired",
      "auth.unavailable",
      "connection.limit",
      "protocol.violation",
      "protocol.tooLarge",
      "protocol.timeout",
    ]);
  });
});

describe("toldError", () => {
  it("never shows the detail, and a place only in the client's own text", () => {
    const error = gatewayError("query.syntax", { detail: "for operators", position: 3, hint: "h" });
    expect(JSON.stringify([toldError(error, true), refusalBody(error)])).not.toContain("operators");
    expect(toldError(error, true)).toMatchObject({ position: 3, hint: "h", retry: "never" });
    expect(toldError(error, false)).not.toHaveProperty("position");
  });
});
