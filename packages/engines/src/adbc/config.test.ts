import { describe, expect, it } from "vitest";
import { adbcConfig, knownDriver } from "./config.ts";

const account = { "adbc.snowflake.sql.account": "xy12345" };

describe("adbcConfig", () => {
  it("takes each driver with its own address and logins", () => {
    for (const config of [
      { driver: "duckdb" },
      { driver: "sqlite", databasePath: "/data/a.db" },
      { driver: "postgresql", uri: "postgresql://db:5432/sales?sslmode=require", tls: {} },
      { driver: "flightsql", uri: "grpc+tls://flight:443", auth: { type: "bearer", token: "t" } },
      {
        driver: "snowflake",
        dbKwargs: account,
        auth: { type: "keyPair", username: "u", privateKeyPem: "k" },
      },
      { driver: "/opt/adbc/libmine.so", entrypoint: "MineInit", dbKwargs: { "mine.option": 1 } },
    ]) {
      expect(problems(config)).toEqual([]);
    }
  });

  it("names an option that the driver does not have", () => {
    expect(problems({ driver: "duckdb", dbKwargs: { thread: 4 } })).toEqual([
      "dbKwargs.thread: the driver duckdb has no such option here: thread",
    ]);
    expect(problems({ driver: "duckdb", dbKwargs: { enable_external_access: true } })).toHaveLength(
      1,
    );
  });

  it("refuses a driver that is not known and no path, and a login that the driver has not", () => {
    expect(problems({ driver: "oracle" })[0]).toContain("driver: ");
    const uri = "postgresql://db/sales";
    const auth = { type: "keyPair", username: "u", privateKeyPem: "k" };
    expect(problems({ driver: "postgresql", uri, auth })).toEqual([
      "auth.type: the driver postgresql has basic only",
    ]);
  });

  it("keeps secrets in auth, where they are marked", () => {
    const secret = { ...account, "adbc.snowflake.sql.client_option.auth_token": "t" };
    expect(problems({ driver: "snowflake", dbKwargs: secret })).toContain(
      "dbKwargs.adbc.snowflake.sql.client_option.auth_token: looks like a secret; give it in auth",
    );
    expect(problems({ driver: "/opt/x.so", dbKwargs: { password: "p" } })).toEqual([
      "dbKwargs.password: looks like a secret; give it in auth",
    ]);
    expect(problems({ driver: "postgresql", uri: "postgresql://u:p@db/sales" })).toHaveLength(1);
  });

  it("lets no address name files of the host or send a login in clear text", () => {
    for (const uri of [
      "postgresql://db/sales?sslkey=/etc/key",
      "postgresql://db/sales?passfile=/etc/x",
      "postgresql://db/sales?host=/var/run",
      "host=/var/run",
    ]) {
      expect(problems({ driver: "postgresql", uri })).toHaveLength(1);
    }
    expect(problems({ driver: "sqlite", databasePath: "file:/etc/x?mode=ro" })).toHaveLength(1);
    const uri = "http://account.example.com";
    expect(problems({ driver: "snowflake", dbKwargs: account, uri })).toHaveLength(1);
  });
});

describe("identity modes", () => {
  const exchange = {
    type: "tokenExchange",
    tokenEndpoint: "https://login.example/token",
    clientId: "gateway",
    clientSecret: "s",
  };

  it("that log in as callers are Snowflake's alone", () => {
    const uri = "postgresql://db/sales";
    for (const queryAuth of [{ type: "passthrough" }, exchange]) {
      expect(problems({ driver: "snowflake", dbKwargs: account, queryAuth })).toEqual([]);
      for (const driver of [{ driver: "postgresql", uri }, { driver: "/opt/libmine.so" }]) {
        const [problem] = problems({ ...driver, queryAuth });
        expect(problem).toBe(`queryAuth.type: ${queryAuth.type} is for the driver snowflake`);
      }
    }
    expect(
      problems({ driver: "snowflake", dbKwargs: account, queryAuth: { type: "impersonate" } }),
    ).toHaveLength(1);
  });

  it("have limits that are whole numbers over zero", () => {
    for (const key of [
      "scopedPoolIdleTimeoutSecs",
      "scopedPoolMaxCount",
      "scopedPoolConnectionsPerProcess",
    ]) {
      expect(problems({ driver: "snowflake", dbKwargs: account, [key]: 1 })).toEqual([]);
      for (const value of [0, -1, 1.5, "9"]) {
        const found = problems({ driver: "snowflake", dbKwargs: account, [key]: value });
        expect(found[0]).toContain(key);
      }
    }
  });
});

describe("knownDriver", () => {
  it("knows a library by its file's name too, so that its rules hold for it", () => {
    expect(knownDriver("/opt/libduckdb.so")).toBe("duckdb");
    expect(knownDriver("/opt/libadbc_driver_snowflake.so.1")).toBe("snowflake");
    expect(knownDriver("/opt/libmine.so")).toBeUndefined();
  });
});

function problems(config: object): readonly string[] {
  const parsed = adbcConfig.safeParse({ engine: "adbc", ...config });
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}
