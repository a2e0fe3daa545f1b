/** Revisions as a select lists them and as the port has them. */
import type { Revision } from "@gateway/contract/revision.ts";
import { configRevisions } from "../config.sql.ts";
import type { StoredRevision } from "../store.ts";

/** Everything of a revision but its bytes. */
export const revisionColumns = {
  epoch: configRevisions.epoch,
  sequence: configRevisions.sequence,
  hash: configRevisions.revision,
  schemaVersion: configRevisions.schemaVersion,
  keyId: configRevisions.keyId,
  createdAt: configRevisions.createdAt,
  createdBy: configRevisions.createdBy,
  summary: configRevisions.summary,
};

/** As `revisionColumns` lists them, with the bytes. */
export const sealedColumns = { ...revisionColumns, sealed: configRevisions.sealed };

type Row = Revision & Omit<StoredRevision, "revision" | "sealed">;

/** A revision without its bytes. */
export function revisionOfRow(row: Row): Omit<StoredRevision, "sealed"> {
  const { epoch, sequence, hash, schemaVersion, keyId, createdAt, createdBy, summary } = row;
  return {
    revision: { epoch, sequence, hash },
    schemaVersion,
    keyId,
    createdAt,
    createdBy,
    summary,
  };
}

/** A revision with its bytes. */
export function sealedOfRow(row: Row & Pick<StoredRevision, "sealed">): StoredRevision {
  return { ...revisionOfRow(row), sealed: row.sealed };
}
