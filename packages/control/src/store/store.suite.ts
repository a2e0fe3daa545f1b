/**
 * The contract of the store, run against memory and against every driver: what store.ts promises and
 * types can not say. `open` answers an empty store each time.
 */
import { afterAll, afterEach, beforeEach, describe, it } from "vitest";
import type { Store } from "./store.ts";
import { auditSuite } from "./suite/audit.suite.ts";
import { capacitySuite } from "./suite/capacity.suite.ts";
import { capacityQueueSuite } from "./suite/capacityQueue.suite.ts";
import { capacityReaperSuite } from "./suite/capacityReaper.suite.ts";
import { capacityStormSuite } from "./suite/capacityStorm.suite.ts";
import { capacityUsersSuite } from "./suite/capacityUsers.suite.ts";
import { commitSuite } from "./suite/commit.suite.ts";
import { configSuite } from "./suite/config.suite.ts";
import { recordSuite } from "./suite/records.suite.ts";
import { sessionSuite } from "./suite/sessions.suite.ts";
import { userSuite } from "./suite/users.suite.ts";
import { workerSuite } from "./suite/workers.suite.ts";

/** A store of one test. */
export interface OpenStore {
  readonly store: Store;
  close(): Promise<void>;
}

/** Guarantees that an implementation can not give, by their full name. */
export interface StoreSkip {
  readonly reason: string;
  readonly tests: readonly string[];
}

/** States one guarantee about an empty store. */
export type Check = (guarantee: string, run: (store: Store) => Promise<void>) => void;

/** The first start of PGlite takes seconds, more on a busy machine. */
const testTimeoutMs = 180_000;

/** Runs every guarantee against what `open` answers. */
export function storeSuite(
  name: string,
  open: () => Promise<OpenStore>,
  skip: readonly StoreSkip[] = [],
): void {
  const skipped = new Set(skip.flatMap(({ tests }) => tests));
  const stated = new Set<string>();

  describe(`the store ${name}`, { timeout: testTimeoutMs }, () => {
    let opened: OpenStore | undefined;
    beforeEach(async () => {
      opened = await open();
    }, testTimeoutMs);
    afterEach(async () => {
      await opened?.close();
    }, testTimeoutMs);
    afterAll(() => {
      const unknown = [...skipped].filter((title) => !stated.has(title));
      if (unknown.length > 0) throw new Error(`no such guarantee to skip: ${unknown.join(" · ")}`);
    });

    const check: Check = (guarantee, run) => {
      stated.add(guarantee);
      // oxlint-disable-next-line vitest/valid-title, vitest/expect-expect -- callers pass a title and expect
      it.skipIf(skipped.has(guarantee))(guarantee, async () => {
        if (opened === undefined) throw new Error("no store was opened");
        await run(opened.store);
      });
    };

    describe("config", () => {
      commitSuite(check);
      configSuite(check);
    });
    describe("records", () => {
      recordSuite(check);
    });
    describe("workers", () => {
      workerSuite(check);
    });
    describe("capacity", () => {
      capacitySuite(check);
      capacityQueueSuite(check);
      capacityReaperSuite(check);
      capacityStormSuite(check);
      capacityUsersSuite(check);
    });
    describe("users", () => {
      userSuite(check);
      sessionSuite(check);
    });
    describe("audit", () => {
      auditSuite(check);
    });
  });
}
