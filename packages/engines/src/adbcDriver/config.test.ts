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
