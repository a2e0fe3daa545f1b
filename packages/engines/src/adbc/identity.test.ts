/** Logins of callers whom Snowflake itself lets in: whose they are, and in which words they are refused. */
import { describe, expect, it } from "vitest";
import { failureOf } from "../native/driver.ts";
import { hostOf } from "../rig/backend.ts";
import { adbcConfig } from "./config.ts";
import { loginError } from "./identity.ts";
import { scopePlanOf, type ScopePlan } from "./scope/scopePlan.ts";

describe("the plan of a cluster's scopes", () => {
  const dbKwargs = { "adbc.snowflake.sql.account": "a" };
  const planOf = (more: object): ScopePlan => {
    const config = { engine: "adbc", driver: "snowflake", dbKwargs, ...more };
    return scopePlanOf("c", adbcConfig.parse(config), hostOf());
  };

  it("knows whose logins it verifies: an account at an address, under passthrough alone", () => {
    const queryAuth = { type: "passthrough" };
    expect(planOf({ queryAuth }).account).toEqual({ account: "a", realm: "a" });
    expect(planOf({ queryAuth, uri: "https://A.example:444" }).account).toEqual({
      account: "a",
      realm: "a@a.example:444",
    });
    const region = { ...dbKwargs, "adbc.snowflake.sql.region": "eu" };
    expect(planOf({ queryAuth, dbKwargs: region }).account?.realm).toBe("a.eu");
    expect(planOf({}).account).toBeUndefined();
  });
});

describe("a login that is tried for its own sake", () => {
  it.each([
    [390_100, undefined, "auth.refused"],
    [390_422, "08004", "auth.refused"],
    [undefined, "28000", "auth.refused"],
    [undefined, "08001", "auth.unavailable"],
    [603, undefined, "auth.unavailable"],
  ])("refused with %s and %s is %s, in no words of the driver", (vendorCode, sqlState, code) => {
    const failure = { ...failureOf("driver", "secret-in-text"), vendorCode, sqlState };
    const error = loginError(failure);
    expect(error.code).toBe(code);
    const isNumbered = code === "auth.refused" && vendorCode !== undefined;
    expect(error.vendor).toEqual(isNumbered ? { of: "snowflake", code: vendorCode } : undefined);
    expect(JSON.stringify(error)).not.toContain("secret-in-text");
  });
});
