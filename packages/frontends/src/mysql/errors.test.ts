import { errorCodes } from "@gateway/contract/error.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import { errorReply, mysqlErrors, ownErrors } from "./errors.ts";

describe("mysqlErrors", () => {
  it("has a number and a state of five characters for every code", () => {
    expect(Object.keys(mysqlErrors).toSorted()).toEqual([...errorCodes].toSorted());
    for (const { errno, sqlState } of Object.values(mysqlErrors)) {
      expect(errno).toBeGreaterThan(1000);
      expect(sqlState).toMatch(/^[0-9A-Z]{5}$/);
    }
  });

  it("gives clients the numbers they act on", () => {
    expect(mysqlErrors["config.notReady"].errno).toBe(1053);
    expect(mysqlErrors["auth.refused"]).toEqual({ errno: 1045, sqlState: "28000" });
    expect(mysqlErrors["query.cancelled"]).toEqual({ errno: 1317, sqlState: "70100" });
    expect(mysqlErrors["query.timeout"].errno).toBe(3024);
    expect(mysqlErrors["capacity.queueFull"]).toEqual({ errno: 1040, sqlState: "08004" });
    expect(mysqlErrors["query.conflict"].errno).toBe(1213);
  });
});

describe("errorReply", () => {
  it("carries the engine's own number where it is one of MySQL's family", () => {
    const vendor = { of: "mysql", code: 5502, sqlState: "42602" } as const;
    expect(errorReply(gatewayError("query.unknownObject", { vendor }))).toMatchObject({
      errno: 5502,
      sqlState: "42602",
    });
  });

  it("says message, hint and query id, and never the detail", () => {
    const error = gatewayError("engine.failed", { hint: "Try less.", detail: "password=x" });
    expect(errorReply(error, "q1")).toEqual({
      errno: 1296,
      sqlState: "HY000",
      message: "The engine failed. Try less. (query q1)",
    });
  });

  it("adds nothing to the message where the statement itself is wrong", () => {
    const message = "Table 'demo.missing' doesn't exist";
    const vendor = { of: "mysql", code: 1146, sqlState: "42S02" } as const;
    const error = gatewayError("query.unknownObject", { message, vendor });
    expect(errorReply(error, "q1")).toEqual({ errno: 1146, sqlState: "42S02", message });
  });

  it("has no longer message of our own than a server has", () => {
    const { message } = ownErrors.wrongValue("a", "x".repeat(1000));
    expect(message).toHaveLength(511);
    expect(ownErrors.textTooLarge(16 << 20).message).toMatch(/of mysql2$/);
  });

  it("is more exact where the engine's state is", () => {
    const columnError = gatewayError("query.unknownObject", { sqlState: "42703" });
    expect(errorReply(columnError)).toMatchObject({ errno: 1054, sqlState: "42S22" });
    const other = gatewayError("query.unknownObject", { sqlState: "XX123" });
    expect(errorReply(other)).toMatchObject({ errno: 1146 });
  });
});
