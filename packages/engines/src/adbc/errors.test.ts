import { describe, expect, it } from "vitest";
import { failureOf, type AdbcFailure } from "../native/driver.ts";
import { breaksConnection, connectError, errorOf } from "./errors.ts";
import { profileOf } from "./profile.ts";

const statement = { sql: "/* tag */ select x", prefix: 10, original: "select x", writes: false };
const said = (more: Partial<AdbcFailure>): AdbcFailure => ({
  ...failureOf("driver", "said"),
  ...more,
});

describe("errorOf", () => {
  it("goes by SQLSTATE and vendor code, whatever the ADBC status is", () => {
    const postgres = profileOf("postgresql");
    const snowflake = profileOf("snowflake");
    for (const status of [1, 9, 10, 11]) {
      expect(errorOf(postgres, said({ status, sqlState: "42P01" }), statement).code).toBe(
        "query.unknownObject",
      );
      expect(errorOf(postgres, said({ status, sqlState: "23505" }), statement).code).toBe(
        "query.constraint",
      );
      expect(errorOf(snowflake, said({ status, vendorCode: 1003 }), statement).code).toBe(
        "query.syntax",
      );
      expect(errorOf(snowflake, said({ status, vendorCode: 604 }), statement).code).toBe(
        "query.cancelled",
      );
    }
  });

  it("places an error in the client's own text, in UTF-16 units", () => {
    const details = new Map([["PG_DIAG_STATEMENT_POSITION", "20"]]);
    const original = "select '\u{1f600}' x y";
    const failure = said({ sqlState: "42601", details });
    expect(errorOf(profileOf("postgresql"), failure, { ...statement, original }).position).toBe(11);
  });

  it("passes on what PostgreSQL says an error is about", () => {
    const details = new Map([
      ["PG_DIAG_MESSAGE_PRIMARY", "duplicate key"],
      ["PG_DIAG_MESSAGE_DETAIL", "Key (id)=(1) already exists."],
      ["PG_DIAG_TABLE_NAME", "orders"],
      ["PG_DIAG_CONSTRAINT_NAME", "orders_pkey"],
      ["PG_DIAG_COLUMN_NAME", ""],
    ]);
    const failure = said({ sqlState: "23505", details });
    expect(errorOf(profileOf("postgresql"), failure, statement)).toMatchObject({
      message: "duplicate key",
      subject: {
        detail: "Key (id)=(1) already exists.",
        table: "orders",
        constraint: "orders_pkey",
      },
    });
  });

  it("shows neither our tag nor the statement that a driver repeats", () => {
    const message = "Failed to prepare query: no such table: t\nquery: /* gateway/a */ select";
    const error = errorOf(profileOf("sqlite"), said({ message }), statement);
    expect(error.code).toBe("query.unknownObject");
    expect(error.message).toBe("Failed to prepare query: no such table: t");
  });

  it("keeps the text of what is not about the client's SQL for the operator", () => {
    const error = errorOf(profileOf("postgresql"), said({ message: "server closed" }), statement);
    expect(error).toMatchObject({ code: "engine.broken", detail: "server closed" });
    expect(error.message).not.toContain("server closed");
  });
});

describe("breaksConnection", () => {
  it("throws a connection away after a cancel, a lost server and what nobody can tell", () => {
    const postgres = profileOf("postgresql");
    expect(breaksConnection(postgres, failureOf("cancelled", ""))).toBe(true);
    expect(breaksConnection(postgres, said({ sqlState: "57P01" }))).toBe(true);
    expect(breaksConnection(postgres, said({}))).toBe(true);
    expect(breaksConnection(postgres, said({ sqlState: "42601" }))).toBe(false);
    expect(breaksConnection(profileOf("snowflake"), said({ vendorCode: 390_112 }))).toBe(true);
    expect(breaksConnection(profileOf("flightsql"), said({ vendorCode: 14 }))).toBe(true);
  });
});

describe("connectError", () => {
  it("keeps a refused login apart from a cancel", () => {
    expect(connectError(said({ vendorCode: 390_100 })).code).toBe("cluster.connectFailed");
    expect(connectError(failureOf("cancelled", "")).code).toBe("query.cancelled");
  });
});
