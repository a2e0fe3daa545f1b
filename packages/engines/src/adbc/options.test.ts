/** What a database and each statement are given of the cluster's config. */
import { anyEgress } from "@gateway/core/port/egress.ts";
import { egressBy } from "@gateway/gateway/host/egress.ts";
import { describe, expect, it } from "vitest";
import { adbcConfig } from "./config.ts";
import { configuredProfile, databaseOptions } from "./options.ts";

const hint = "adbc.postgresql.batch_size_hint_bytes";
const statement = { plainQuery: true, tag: "gateway/suite/0/suite" };

describe("configuredProfile", () => {
  it("gives PostgreSQL's statements the batch size of the config, in the place of ours", () => {
    const hints = [{}, { [hint]: 65_536 }].map((dbKwargs) => {
      const uri = "postgresql://db.internal/sales";
      const config = adbcConfig.parse({ engine: "adbc", driver: "postgresql", uri, dbKwargs });
      const options = configuredProfile(config).statementOptions(statement);
      expect(options).toContainEqual(["adbc.postgresql.use_copy", "true"]);
      return options.flatMap(([key, value]) => (key === hint ? [value] : []));
    });
    expect(hints).toEqual([["1048576"], ["65536"]]);
  });
});

describe("databaseOptions", () => {
  const refusing = egressBy((address) => address === "127.0.0.1" || address === "::1");

  it.each([
    ["postgresql", "postgresql://127.0.0.1/sales"],
    ["postgresql", "postgresql://[::1]/sales"],
    ["snowflake", "https://127.0.0.1:8080"],
    ["flightsql", "grpc://[::1]:31337"],
  ])("refuses %s at %s where the egress does", async (driver, uri) => {
    const dbKwargs = driver === "snowflake" ? { "adbc.snowflake.sql.account": "acme" } : {};
    const config = adbcConfig.parse({ engine: "adbc", driver, uri, dbKwargs });
    const optionsWith = (egress: typeof anyEgress) =>
      databaseOptions("pg", configuredProfile(config), config, egress);
    const refused = { ok: false, error: "gateway.egress refuses the address" };
    expect(await optionsWith(refusing)).toEqual(refused);
    expect(await optionsWith(anyEgress)).toMatchObject({ ok: true });
  });
});
