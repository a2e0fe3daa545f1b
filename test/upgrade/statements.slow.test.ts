/**
 * Control planes are upgraded one after the other, so the program of before goes on for a while on the new schema.
 * Every statement of it that a recording holds is answered there as it was on its own.
 */
import { readdirSync, readFileSync } from "node:fs";
import { testDatabase } from "@gateway/control/store/rig/database.ts";
import { describe, expect, it } from "vitest";
import { differences, recordingSchema } from "./statements.ts";

const folder = new URL(".", import.meta.url);
const recordings = readdirSync(folder)
  .filter((name) => /^statements-[0-9a-f]{12}\.json$/.test(name))
  .map((name) => recordingSchema.parse(JSON.parse(readFileSync(new URL(name, folder), "utf8"))));

describe("the program of before, on the newest schema", { timeout: 120_000 }, () => {
  it("has a recording", () => {
    expect(recordings.length).toBeGreaterThan(0);
    for (const { statements } of recordings) expect(statements.length).toBeGreaterThan(50);
  });

  it.each(recordings.map((recording) => [recording.schema, recording] as const))(
    "is answered as on its own schema, %s",
    async (_schema, recording) => {
      await using opened = await testDatabase();
      expect(await differences(opened.database, recording)).toEqual([]);
    },
  );

  it.each([
    ["a column that is gone", "alter table worker_registry drop column stale"],
    ["a column that has to be given", "alter table worker_registry add column more text not null"],
    ["an answer of another form", "alter table worker_registry rename column token_hash to token"],
  ])("would be seen to fail: %s", async (_what, change) => {
    const [recording] = recordings;
    if (recording === undefined) throw new Error("there is no recording");
    await using opened = await testDatabase();
    expect((await opened.database.script(change)).ok).toBe(true);
    expect(await differences(opened.database, recording)).not.toEqual([]);
  });
});
