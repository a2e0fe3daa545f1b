/** Configuration in memory. Each call runs to its end before the next begins, so each is atomic. */
import { compareRevisions, sameRevision, type Revision } from "@gateway/contract/revision.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { ok } from "@gateway/core/result.ts";
import { assertChange, documentKey } from "../change.ts";
import { byPosition } from "../keyset.ts";
import type {
  AuditEntry,
  ConfigChange,
  ConfigStore,
  PageRequest,
  StoredDocument,
  StoredRevision,
} from "../store.ts";
import { compareKeys, pageOf, stored } from "./order.ts";

type Position = Pick<Revision, "epoch" | "sequence">;

/** Configuration in memory; `audit` takes the row of each change in the same step. */
export function memoryConfig(clock: Clock, audit: (entry: AuditEntry) => void): ConfigStore {
  const documents = new Map<string, StoredDocument>();
  /** Oldest first, as they were committed. The head is the last. */
  let revisions: readonly StoredRevision[] = [];
  const watchers = new Set<() => void>();

  const head = (): Revision | undefined => revisions.at(-1)?.revision;

  function commit(change: ConfigChange): "committed" | "moved" {
    assertChange(change);
    const now = head();
    const { expected } = change;
    const unmoved =
      now === undefined || expected === undefined ? now === expected : sameRevision(now, expected);
    if (!unmoved) return "moved";
    for (const name of change.deletes) documents.delete(documentKey(name));
    for (const document of change.puts) documents.set(documentKey(document), document);
    revisions = [...revisions, change.next];
    audit(change.audit);
    for (const wake of watchers) wake();
    return "committed";
  }

  return {
    head: () => stored(head()),
    read: () =>
      stored({ head: head(), documents: [...documents.values()].toSorted(byKindAndName) }),
    newest: () => stored(revisions.at(-1)),
    commit: async (change) => ok(commit(change)),
    revision: (position) =>
      stored(revisions.find(({ revision }) => samePosition(revision, position))),
    revisions: (page) => stored(revisionsPage(revisions, page)),
    keyIds: () => stored(keyIdsOf(documents.values(), revisions)),
    sealedByOthers: (keyId, limit) =>
      stored({
        documents: [...documents.values()]
          .filter(({ keyIds }) => keyIds.some((id) => id !== keyId))
          .slice(0, limit),
        revisions: revisions.filter((one) => one.keyId !== keyId).slice(0, limit),
      }),
    reseal: (rows) => {
      let count = 0;
      for (const document of rows.documents) {
        const there = documents.get(documentKey(document));
        if (!unchanged(there, document)) continue;
        const { body, keyIds } = document;
        documents.set(documentKey(document), { ...there, body, keyIds });
        count += 1;
      }
      revisions = revisions.map((there) => {
        const row = rows.revisions.find(({ revision }) => sameRevision(revision, there.revision));
        if (row === undefined) return there;
        count += 1;
        return { ...there, sealed: row.sealed, keyId: row.keyId };
      });
      return stored(count);
    },
    retainRevisions: (keep) => {
      const before = revisions.length;
      revisions = revisions.slice(-Math.max(1, keep));
      return stored(before - revisions.length);
    },
    watch: (wake) => watching(clock, watchers, wake),
  };
}

/** Wakes from a timer of its own, so that a commit never runs what its watchers do. */
function watching(clock: Clock, watchers: Set<() => void>, wake: () => void): AsyncDisposable {
  let due: Disposable | undefined;
  const woken = (): void => {
    due ??= clock.timer(0, () => {
      due = undefined;
      wake();
    });
  };
  watchers.add(woken);
  return {
    [Symbol.asyncDispose]: () => {
      watchers.delete(woken);
      due?.[Symbol.dispose]();
      return Promise.resolve();
    },
  };
}

function revisionsPage(revisions: readonly StoredRevision[], page: PageRequest) {
  return pageOf(
    revisions.map(({ sealed: _sealed, ...row }) => row),
    page,
    {
      keyset: byPosition,
      keyOf: ({ revision }) => [revision.epoch, revision.sequence],
      newestFirst: true,
    },
  );
}

function keyIdsOf(
  documents: Iterable<StoredDocument>,
  revisions: readonly StoredRevision[],
): readonly string[] {
  const ids = new Set(revisions.map(({ keyId }) => keyId));
  for (const { keyIds } of documents) for (const id of keyIds) ids.add(id);
  return [...ids].toSorted();
}

/** A version alone does not tell: after a new epoch, sequences and with them versions begin again. */
function unchanged(
  there: StoredDocument | undefined,
  read: StoredDocument,
): there is StoredDocument {
  return there?.version === read.version && there.updatedAt === read.updatedAt;
}

function samePosition(revision: Revision, position: Position): boolean {
  return compareRevisions(revision, { ...position, hash: revision.hash }) === 0;
}

function byKindAndName(a: StoredDocument, b: StoredDocument): number {
  return compareKeys([a.kind, a.name], [b.kind, b.name]);
}
