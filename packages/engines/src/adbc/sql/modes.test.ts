/** What a transaction begins with, driver by driver: never less than was asked for. */
import { describe, expect, it } from "vitest";
import { identifiedOf } from "../../rig/backend.ts";
import type { DriverName } from "../config.ts";
import { profileOf } from "../profile.ts";
import { changedIsolation, openingOf } from "./modes.ts";

function opened(driver: DriverName, sql: string, settings: Readonly<Record<string, string>> = {}) {
  const session = { dialect: "postgres" as const, settings: new Map(Object.entries(settings)) };
  const opening = openingOf(profileOf(driver), identifiedOf(sql, [], session));
  return opening.ok ? [opening.value.begin, ...opening.value.first] : opening.error.code;
}

describe("openingOf", () => {
  it("sets the isolation where the engine has several, from the statement or from the session", () => {
    const serializable = ["BEGIN", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"];
    expect(opened("postgresql", "begin isolation level serializable")).toEqual(serializable);
    const session = { default_transaction_isolation: "serializable" };
    expect(opened("postgresql", "begin", session)).toEqual(serializable);
    expect(opened("postgresql", "begin")).toEqual(["BEGIN"]);
    expect(
      opened("postgresql", "begin isolation level serializable, read only, deferrable"),
    ).toEqual([...serializable, "SET TRANSACTION READ ONLY", "SET TRANSACTION DEFERRABLE"]);
  });

  it("refuses more isolation than the engine has, and takes less", () => {
    const levels = ["read uncommitted", "read committed", "repeatable read", "serializable"];
    const takenBy = (driver: DriverName) =>
      levels.filter(
        (level) => typeof opened(driver, `begin isolation level ${level}`) !== "string",
      );
    expect(takenBy("snowflake")).toEqual(levels.slice(0, 2));
    expect(takenBy("duckdb")).toEqual(levels.slice(0, 3));
    expect(takenBy("sqlite")).toEqual(levels);
    expect(opened("snowflake", "begin isolation level serializable")).toBe("query.unsupported");
  });

  it("makes a transaction read-only in the engine, or refuses", () => {
    expect(opened("duckdb", "begin read only")).toEqual(["BEGIN TRANSACTION READ ONLY"]);
    expect(opened("sqlite", "begin read only")).toEqual(["BEGIN", "PRAGMA query_only = 1"]);
    expect(opened("snowflake", "begin read only")).toBe("query.unsupported");
  });
});

describe("changedIsolation", () => {
  const changed = (driver: DriverName, level: string) => {
    const session = {
      dialect: "postgres" as const,
      settings: new Map([["transaction_isolation", level]]),
    };
    const found = changedIsolation(
      profileOf(driver),
      identifiedOf("select 1", [], session).session,
      "readCommitted",
    );
    return found.ok ? found.value?.statements : found.error.code;
  };

  it("says what SET TRANSACTION asked for behind the BEGIN, once", () => {
    expect(changed("postgresql", "repeatable read")).toEqual([
      "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    ]);
    expect(changed("postgresql", "read committed")).toBeUndefined();
    expect(changed("snowflake", "serializable")).toBe("query.unsupported");
  });
});
