/** What each statement is given of the cluster's config. */
import { describe, expect, it } from "vitest";
import { adbcConfig } from "./config.ts";
import { configuredProfile } from "./options.ts";

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
