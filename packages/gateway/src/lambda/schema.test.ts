import { migrationsOf } from "@gateway/control/store/migrate/migration.ts";
import { err } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import { judgeSchema } from "./schema.ts";

// What it says of databases that answer is shown in test/lambda, where there is one.
describe("judgeSchema", () => {
  it("tells a database that does not answer from one that does not fit", async () => {
    const refused = err({ kind: "unreachable", code: "ECONNREFUSED" } as const);
    const gone = { run: async () => refused, script: async () => refused };
    const files = migrationsOf({
      journal: '{"entries":[{"tag":"V001__a","when":1}]}',
      files: { V001__a: "" },
    });
    const judged = await judgeSchema(gone, files.ok ? files.value : []);
    expect(judged).toEqual(err({ code: "unavailable", detail: "ECONNREFUSED" }));
  });
});
