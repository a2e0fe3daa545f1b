/** What an upgrade from a standalone gateway promises, on any database and with any number of records. */
import { describe, expect, it } from "vitest";
import { err, ok } from "@gateway/core/result.ts";
import { systemClock } from "@gateway/gateway/host/clock.ts";
import type { Database } from "@gateway/control/store/database.ts";
import { drizzleStore } from "@gateway/control/store/drizzle.ts";
import { migrate, pending } from "@gateway/control/store/migrate/migrate.ts";
import {
  allFiles,
  makeStandalone,
  numberOf,
  prepareBeforehand,
  recordingDuring,
  standaloneFiles,
  upgrade,
} from "./upgrade.ts";

export interface UpgradeUnderTest {
  readonly name: string;
  readonly records: number;
  /** An empty database. */
  readonly open: () => Promise<Database>;
  /** Told of a figure that nothing is judged by. */
  readonly report: (line: string) => void;
}

const upgradeMsMax = 600_000;
const indexFile = "select pg_relation_filenode('query_records_worker_at')";

export function upgradeSuite({ name, records, open, report }: UpgradeUnderTest): void {
  describe(`upgrade of ${records} records on ${name}`, { timeout: upgradeMsMax }, () => {
    it("keeps every record, those of before and those that came meanwhile", async () => {
      await using database = await open();
      await makeStandalone(database, records);
      const recorded = await recordingDuring(database, "during", () => upgrade(database));
      report(`${name}: longest insert during an upgrade ${Math.round(recorded.longestMs)} ms`);
      await expectWhole(database, records + recorded.ids.length);
    });

    it("builds nothing that an operator made beforehand, while records go on coming", async () => {
      await using database = await open();
      await makeStandalone(database, records);
      const prepared = await recordingDuring(database, "prepared", () =>
        prepareBeforehand(database),
      );
      const made = await numberOf(database, indexFile);
      const recorded = await recordingDuring(database, "during", () => upgrade(database));
      report(
        `${name}: longest insert while preparing ${Math.round(prepared.longestMs)} ms, during the upgrade ${Math.round(recorded.longestMs)} ms`,
      );
      expect(await numberOf(database, indexFile)).toBe(made);
      await expectWhole(database, records + prepared.ids.length + recorded.ids.length);
    });

    it("names an index that was not built to its end, and changes nothing until it is gone", async () => {
      await using database = await open();
      await makeStandalone(database, records);
      const index = "query_records_frontend_at";
      // Every record has the same one, so a build that wants each once fails on the way.
      const failing = `create unique index concurrently ${index} on query_records (frontend)`;
      expect((await database.script(failing)).ok).toBe(false);
      const files = await allFiles();
      expect(await migrate(database, files)).toEqual(err({ code: "brokenIndex", name: index }));
      expect(await pending(database, await standaloneFiles())).toEqual(ok([]));
      expect((await database.script(`drop index ${index}`)).ok).toBe(true);
      await upgrade(database);
      await expectWhole(database, records);
    });

    it("lets the program of before go on recording and reading when the database is newer", async () => {
      await using database = await open();
      await makeStandalone(database, records);
      await upgrade(database);
      // Its own statements, as it sends them to any database.
      const recorded = await recordingDuring(database, "later", () => Promise.resolve());
      await expectWhole(database, records + recorded.ids.length);
    });
  });
}

async function expectWhole(database: Database, records: number): Promise<void> {
  expect(await numberOf(database, "select count(*) from query_records")).toBe(records);
  const valid =
    "select count(*) from pg_index where indrelid = 'query_records'::regclass and not indisvalid";
  expect(await numberOf(database, valid)).toBe(0);
  const files = await allFiles();
  expect(await pending(database, files)).toEqual(ok([]));
  const newest = files.at(-1)?.version;
  const program = (await standaloneFiles()).at(-1)?.version;
  expect(await pending(database, await standaloneFiles())).toEqual(
    err({ code: "newer", database: newest, program }),
  );
  const store = drizzleStore(database, { clock: systemClock });
  const page = await store.records.list({ user: "user7" }, { limit: 20, cursor: undefined });
  expect(page.ok && page.value.items.length).toBe(20);
}
