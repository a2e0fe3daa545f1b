/**
 * The configuration of one moment, read from the store and opened.
 *
 * The bytes are those that the writer of the change built: a replica of another release, with other
 * defaults, serves the same ones. Nothing is built here.
 */
import { sameRevision, revisionText, type Revision } from "@gateway/contract/revision.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { KeyRing, SealedCell } from "../secret/keyRing.ts";
import { openObject } from "../secret/object.ts";
import { builtOf, readLogged } from "../snapshot/build.ts";
import type { ConfigStore, StoredDocument, StoredRevision } from "../../store/store.ts";
import type { Built } from "../configuration.ts";
import { byKey } from "../difference/difference.ts";
import type { ConfigObject } from "../file.ts";

/** An object with its place in time; its body is in clear. */
export interface LoadedObject
  extends ConfigObject, Pick<StoredDocument, "version" | "updatedAt" | "updatedBy"> {}

export interface Loaded {
  /** Undefined while the store is empty, as `built` is. */
  readonly head: Revision | undefined;
  readonly objects: ReadonlyMap<string, LoadedObject>;
  readonly built: Built | undefined;
}

export type LoadRefusal =
  /** The store did not answer. `detail` is its code. */
  | { readonly code: "unavailable"; readonly detail: string }
  /** A row does not open, or is not what was written. `detail` names the row, never its content. */
  | { readonly code: "unreadable"; readonly detail: string };

/** What an empty store holds. */
export const nothingLoaded: Loaded = { head: undefined, objects: new Map(), built: undefined };

/** Documents and bytes are two reads; with a writer between them they are read again, this often. */
const readsMax = 5;

/** Documents and bytes of one head. */
export async function loadConfig(
  store: ConfigStore,
  keys: KeyRing,
): Promise<Result<Loaded, LoadRefusal>> {
  for (let read = 0; read < readsMax; read += 1) {
    const [config, newest] = await Promise.all([store.read(), store.newest()]);
    if (!config.ok) return config;
    if (!newest.ok) return newest;
    const { head, documents } = config.value;
    if (head === undefined && newest.value === undefined) return ok(nothingLoaded);
    if (head === undefined || newest.value === undefined) continue;
    if (!sameRevision(head, newest.value.revision)) continue;

    const objects = openDocuments(keys, documents);
    if (!objects.ok) return objects;
    const built = await openRevision(keys, newest.value);
    return built.ok ? ok({ head, objects: objects.value, built: built.value }) : built;
  }
  return err({ code: "unavailable", detail: "moving" });
}

/** The snapshot that a row of the revision log holds. */
export async function openRevision(
  keys: KeyRing,
  stored: StoredRevision,
): Promise<Result<Built, LoadRefusal>> {
  const { revision, schemaVersion, sealed, createdAt } = stored;
  const where = `revision ${revision.epoch}.${revision.sequence}`;
  const opened = keys.open(sealed, revisionCell(revision));
  if (!opened.ok) return err({ code: "unreadable", detail: `${where} (${opened.error.code})` });
  const logged = await readLogged(opened.value, revision.hash);
  if (!logged.ok) return err({ code: "unreadable", detail: `${where} (${logged.error.code})` });
  const { body, gzipTail } = logged.value;
  const compress = gzipTail && (() => Promise.resolve(gzipTail));
  return ok(await builtOf(body, { revision, schemaVersion, createdAt }, compress));
}

/** What the bytes of a revision are sealed for. */
export function revisionCell(revision: Revision): SealedCell {
  return { table: "config_revisions", row: revisionText(revision), field: "sealed" };
}

function openDocuments(
  keys: KeyRing,
  documents: readonly StoredDocument[],
): Result<ReadonlyMap<string, LoadedObject>, LoadRefusal> {
  const objects: LoadedObject[] = [];
  for (const document of documents) {
    const { kind, name, version, updatedAt, updatedBy } = document;
    const body = openObject(keys, document);
    if (!body.ok) {
      return err({ code: "unreadable", detail: `${kind} ${name} (${body.error.code})` });
    }
    objects.push({ kind, name, body: body.value, version, updatedAt, updatedBy });
  }
  return ok(byKey(objects));
}
