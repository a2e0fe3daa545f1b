import { errorCatalogue, errorCodes } from "@gateway/contract/error.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import { errorReport, pgErrors } from "./errors.ts";

describe("pgErrors", () => {
  it("has a well-formed SQLSTATE for every code", () => {
    for (const code of errorCodes) expect(pgErrors[code].sqlState).toMatch(/^[0-9A-Z]{5}$/);
  });

  it("gives codes that advise a retry an SQLSTATE that drivers take for transient", () => {
    for (const code of errorCodes.filter((one) => errorCatalogue[one].retry === "later")) {
      expect(pgErrors[code].sqlState).toMatch(/^(53|57|40)/);
    }
  });

  it("ends the connection where the client must connect anew, and for a broken transaction does not", () => {
    for (const code of errorCodes.filter((one) => errorCatalogue[one].retry === "reconnect")) {
      const ofTransaction = ["query.idleInTransaction", "query.transactionTimeout"].includes(code);
      const expected = ofTransaction ? "ERROR" : "FATAL";
      expect(pgErrors[code].severity).toBe(expected);
    }
  });

  it.each([
    ["config.notReady", "57P03"],
    ["auth.refused", "28P01"],
    ["auth.noBackendIdentity", "28000"],
    ["query.cancelled", "57014"],
    ["query.transactionAborted", "25P02"],
    ["protocol.violation", "08P01"],
  ] as const)("answers %s with %s", (code, sqlState) => {
    expect(errorReport(gatewayError(code)).sqlState).toBe(sqlState);
  });
});

describe("errorReport", () => {
  it("prefers the engine's own SQLSTATE", () => {
    const error = gatewayError("query.data", { sqlState: "22012" });
    expect(errorReport(error).sqlState).toBe("22012");
  });

  it("counts the position in characters of the whole text, not in UTF-16 units of the statement", () => {
    const sql = "select '😀'; select nope";
    const error = gatewayError("query.unknownObject", { position: 8 });
    expect(errorReport(error, { sql, statementStart: 13 }).position).toBe(20);
    expect(Array.from(sql)[19]).toBe("n");
  });

  it("leaves the position out when it does not know the text", () => {
    expect(errorReport(gatewayError("query.syntax", { position: 3 })).position).toBeUndefined();
  });

  it("names the query id where an operator has to look, and not beside the client's own mistake", () => {
    const place = { queryId: "q1" };
    expect(errorReport(gatewayError("internal.bug"), place).detail).toBe("Query id: q1");
    expect(errorReport(gatewayError("query.syntax"), place).detail).toBeUndefined();
  });

  it("names what the engine says the error is about", () => {
    const subject = {
      detail: "Key (id)=(1) already exists.",
      schema: "public",
      table: "orders",
      constraint: "orders_pkey",
    };
    const error = gatewayError("query.constraint", { sqlState: "23505", subject });
    expect(errorReport(error, { queryId: "q1" })).toMatchObject({ sqlState: "23505", ...subject });
  });

  it("never shows the operator's detail", () => {
    const report = errorReport(gatewayError("engine.failed", { detail: "host db-7 said no" }));
    expect(JSON.stringify(report)).not.toContain("db-7");
  });

  it("turns a time to wait into a hint", () => {
    const error = gatewayError("capacity.queueFull", { retryAfterMs: 1200 });
    expect(errorReport(error).hint).toBe("Try again in 2 s.");
  });
});
