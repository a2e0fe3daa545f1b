/** The keys that the stored configuration needs: finds missing ones, and takes old ones out of use. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { KeyRing } from "../secret/keyRing.ts";
import { resealObject } from "../secret/object.ts";
import type { ConfigStore, StoredDocument, StoredRevision, Stored } from "../../store/store.ts";
import { revisionCell, type LoadRefusal } from "./loaded.ts";

/** Key ids that rows name and the ring lacks; a start refuses while there is one. */
export async function missingKeys(
  store: ConfigStore,
  keys: KeyRing,
): Promise<Awaited<Stored<readonly string[]>>> {
  const named = await store.keyIds();
  return named.ok ? ok(named.value.filter((id) => !keys.ids.includes(id))) : named;
}

/**
 * Seals everything under the current key, `limit` rows of each sort at a time; answers how many rows
 * it replaced. When it is done the other keys may leave the ring. Safe to run again, and beside writers.
 */
export async function rekey(
  store: ConfigStore,
  keys: KeyRing,
  limit: number,
): Promise<Result<number, LoadRefusal>> {
  let replaced = 0;
  for (;;) {
    const page = await store.sealedByOthers(keys.currentId, limit);
    if (!page.ok) return page;
    const rows = resealed(keys, page.value);
    if (!rows.ok) return rows;
    if (rows.value.documents.length + rows.value.revisions.length === 0) return ok(replaced);
    const done = await store.reseal(rows.value);
    if (!done.ok) return done;
    // Rows that change all the time are sealed by their writers; the next run finds what is left.
    if (done.value === 0) return ok(replaced);
    replaced += done.value;
  }
}

interface Rows {
  readonly documents: readonly StoredDocument[];
  readonly revisions: readonly StoredRevision[];
}

function resealed(keys: KeyRing, { documents, revisions }: Rows): Result<Rows, LoadRefusal> {
  const newDocuments: StoredDocument[] = [];
  for (const document of documents) {
    const sealed = resealObject(keys, document);
    if (!sealed.ok) return unreadable(`${document.kind} ${document.name}`, sealed.error.code);
    newDocuments.push({ ...document, ...sealed.value });
  }
  const newRevisions: StoredRevision[] = [];
  for (const stored of revisions) {
    const cell = revisionCell(stored.revision);
    const bytes = keys.open(stored.sealed, cell);
    if (!bytes.ok) return unreadable(`revision ${cell.row}`, bytes.error.code);
    newRevisions.push({
      ...stored,
      sealed: keys.seal(bytes.value, cell),
      keyId: keys.currentId,
    });
  }
  return ok({ documents: newDocuments, revisions: newRevisions });
}

function unreadable(row: string, code: string): Result<never, LoadRefusal> {
  return err({ code: "unreadable", detail: `${row} (${code})` });
}
