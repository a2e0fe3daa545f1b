import { errorCodes } from "@gateway/contract/error.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { status } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { statusCodes, statusOf } from "./errors.ts";

describe("statusOf", () => {
  it("gives each code of the catalogue a status of gRPC that is no success", () => {
    const numbers = new Set(Object.values(status));
    for (const code of errorCodes) {
      const found = statusOf(gatewayError(code));
      expect(numbers.has(found.code)).toBe(true);
      expect(found.code).not.toBe(statusCodes.ok);
      expect(found.details).not.toBe("");
    }
  });

  it("cuts texts that no client would take, and mends what can not be a header", () => {
    const long = statusOf(gatewayError("query.syntax", { message: "é".repeat(100_000) }));
    expect(encodeURI(long.details).length).toBeLessThan(8_000);
    const half = statusOf(gatewayError("query.syntax", { message: "a\ud800b" }));
    expect(() => encodeURI(half.details)).not.toThrow();
  });

  it("says where in the statement, and the hint", () => {
    const error = gatewayError("query.syntax", { message: "no", position: 7, hint: "Try yes." });
    expect(statusOf(error).details).toBe("no (at character 7) Hint: Try yes.");
  });
});
