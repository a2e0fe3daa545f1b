/** The database of a standalone gateway of the first version, and an upgrade of it, for a case that runs the programs. */
import { openPostgres } from "@gateway/control/store/driver/postgres.ts";
import { Secret } from "@gateway/core/secret.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import {
  makeStandalone,
  numberOf,
  prepareBeforehand,
  recordingDuring,
  type Recorded,
} from "../upgrade/upgrade.ts";

const bundle = new URL("../../packages/gateway/dist/", import.meta.url);

export interface StandaloneDatabase extends AsyncDisposable {
  /** With so many records. */
  make(records: number): Promise<void>;
  /** What the upgrade guide tells to do before. */
  prepare(): Promise<void>;
  /** Records that the program of that version goes on writing until `work` is done. */
  during(prefix: string, work: () => Promise<unknown>): Promise<Recorded>;
  numberOf(sql: string): Promise<number>;
}

export function openStandalone(url: string): StandaloneDatabase {
  const host = nodeHost(bundle, "silent");
  const database = openPostgres({ url: new Secret(url), connectionsMax: 2, host });
  return {
    make: (records) => makeStandalone(database, records),
    prepare: () => prepareBeforehand(database),
    during: (prefix, work) => recordingDuring(database, prefix, work),
    numberOf: (sql) => numberOf(database, sql),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
