/** Configuration in its three tables. The atomic steps are in commit.ts and reseal.ts. */
import { and, asc, desc, eq, sql } from "drizzle-orm";
import type { Revision } from "@gateway/contract/revision.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { ok } from "@gateway/core/result.ts";
import { configDocuments, configHead, configRevisions } from "../config.sql.ts";
import type { Database } from "../database.ts";
import { byPosition, emptyPage } from "../keyset.ts";
import type {
  ConfigStore,
  Page,
  PageRequest,
  Stored,
  StoredConfig,
  StoredRevision,
} from "../store.ts";
import type { Asked } from "./asked.ts";
import { commitChange } from "./commit.ts";
import { keyIdsInUse, resealRows, sealedByOthers } from "./reseal.ts";
import { revisionColumns, revisionOfRow, sealedColumns, sealedOfRow } from "./rows.ts";
import { watchHead } from "./watch.ts";

type Position = Pick<Revision, "epoch" | "sequence">;
type RevisionRow = Omit<StoredRevision, "sealed">;

export interface ConfigTablesOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly lookMs: number;
}

/** Configuration over `asked`. */
export function configTables(asked: Asked, options: ConfigTablesOptions): ConfigStore {
  const head = (): Stored<Revision | undefined> => readHead(asked);
  return {
    head,
    read: () => readConfig(asked),
    newest: () => newestRevision(asked),
    commit: (change) => commitChange(asked, change),
    revision: (position) => revisionAt(asked, position),
    revisions: (page) => revisionsPage(asked, page),
    keyIds: () => keyIdsInUse(asked),
    sealedByOthers: (keyId, limit) => sealedByOthers(asked, keyId, limit),
    reseal: (rows) => resealRows(asked, rows),
    retainRevisions: (keep) => retainRevisions(asked, keep),
    watch: (wake) => watchHead({ ...options, head }, wake),
  };
}

const headColumns = {
  epoch: configHead.epoch,
  sequence: configHead.sequence,
  hash: configHead.revision,
};

/** One row, by its key. Asked every second by replicas that can not listen. */
async function readHead({ db, ask }: Asked): Stored<Revision | undefined> {
  const rows = await ask(db.select(headColumns).from(configHead));
  return rows.ok ? ok(rows.value[0]) : rows;
}

/** Head and documents in one statement, so both are of one snapshot of the database. Whole table. */
async function readConfig({ db, ask }: Asked): Stored<StoredConfig> {
  const rows = await ask(
    db
      .select({ head: headColumns, document: configDocuments })
      .from(configHead)
      .leftJoin(configDocuments, sql`true`)
      .orderBy(asc(configDocuments.kind), asc(configDocuments.name)),
  );
  if (!rows.ok) return rows;
  const documents = rows.value.flatMap(({ document }) => document ?? []);
  return ok({ head: rows.value[0]?.head, documents });
}

/** Joined by the primary key, so the bytes are those of the head in the same snapshot. */
async function newestRevision({ db, ask }: Asked): Stored<StoredRevision | undefined> {
  const rows = await ask(
    db
      .select(sealedColumns)
      .from(configHead)
      .innerJoin(
        configRevisions,
        and(
          eq(configRevisions.epoch, configHead.epoch),
          eq(configRevisions.sequence, configHead.sequence),
        ),
      ),
  );
  return rows.ok ? ok(rows.value.map(sealedOfRow)[0]) : rows;
}

/** By the primary key. */
async function revisionAt(
  { db, ask }: Asked,
  { epoch, sequence }: Position,
): Stored<StoredRevision | undefined> {
  const rows = await ask(
    db
      .select(sealedColumns)
      .from(configRevisions)
      .where(and(eq(configRevisions.epoch, epoch), eq(configRevisions.sequence, sequence))),
  );
  return rows.ok ? ok(rows.value.map(sealedOfRow)[0]) : rows;
}

/** Newest first by the primary key, read backwards. The bytes stay where they are. */
async function revisionsPage(
  { db, ask }: Asked,
  { limit, cursor }: PageRequest,
): Stored<Page<RevisionRow>> {
  const after = byPosition.read(cursor);
  if (after === null) return ok(emptyPage);
  const rows = await ask(
    db
      .select(revisionColumns)
      .from(configRevisions)
      .where(
        after === undefined
          ? undefined
          : sql`(${configRevisions.epoch}, ${configRevisions.sequence}) < (${after[0]}::bigint, ${after[1]}::bigint)`,
      )
      .orderBy(desc(configRevisions.epoch), desc(configRevisions.sequence))
      .limit(limit + 1),
  );
  if (!rows.ok) return rows;
  const found = rows.value.map(revisionOfRow);
  return ok(byPosition.page(found, limit, ({ revision }) => [revision.epoch, revision.sequence]));
}

/**
 * Deletes what lies before the oldest to keep, which the primary key finds. The head is the newest
 * always, so keeping one keeps it; a commit at the same moment only adds newer ones.
 */
async function retainRevisions({ run }: Asked, keep: number): Stored<number> {
  const deleted = await run(sql`
    delete from config_revisions
    where (epoch, sequence) < (
      select epoch, sequence from config_revisions
      order by epoch desc, sequence desc
      offset ${Math.max(1, keep) - 1}::bigint limit 1
    )`);
  return deleted.ok ? ok(deleted.value.count) : deleted;
}
