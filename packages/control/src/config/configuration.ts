/**
 * The configuration as the admin API, the worker API and the process's own queries see it.
 *
 * `current` is memory and never waits: it is the last snapshot that was built, also when the
 * database is gone. Every write goes the whole straight line (parse, check, build, commit) and is
 * refused as a value when any step refuses.
 */
import type { Json } from "@gateway/contract/canonical.ts";
import type { Revision } from "@gateway/contract/revision.ts";
import type { SnapshotBody } from "@gateway/contract/snapshot.ts";
import type { Result } from "@gateway/core/result.ts";
import type {
  DocumentKind,
  DocumentName,
  Page,
  PageRequest,
  StoredRevision,
} from "../store/store.ts";

/** A built snapshot as it is served: bytes are the same on every replica. */
export interface Built {
  readonly revision: Revision;
  readonly schemaVersion: number;
  readonly body: SnapshotBody;
  /** Canonical JSON of the body, UTF-8, beginning with `{`. */
  readonly bytes: Uint8Array;
  /** `bytes` without its first `{`, gzip: the tail of a compressed answer, made once. */
  readonly gzipTail: Uint8Array;
  readonly createdAt: number;
}

/** Whether what is served is what the database holds. */
export interface Freshness {
  /** Unix milliseconds of the last time the database confirmed it. */
  readonly confirmedAt: number;
  /** Why the newest could not be had: the database is gone, or the build failed or took too long. */
  readonly problem: string | undefined;
}

/** Where something is wrong, as `validate` prints it: `clusterGroups.a.members[0]`. */
export interface ConfigFault {
  readonly path: string;
  readonly reason: string;
}

/**
 * Finds faults that only this process knows (a listener that would take passwords in clear text), in
 * the form of the file. It judges each object by itself, whatever else the file holds.
 */
export interface JudgeConfig {
  (input: unknown): readonly ConfigFault[];
  /** Whether workers lease the slots of the configuration. */
  readonly leases?: boolean;
}

export interface ObjectView extends DocumentName {
  /**
   * As written, without defaults; every secret is `{set: true}`, and a reference stays a reference.
   * Putting it back unchanged is no change.
   */
  readonly body: Json;
  /** One more with each write. A new object begins at its revision's sequence, not always at 1. */
  readonly version: number;
  readonly updatedAt: number;
  readonly updatedBy: string;
}

export type ConfigRefusal =
  /** 422: every path. */
  | { readonly code: "invalid"; readonly faults: readonly ConfigFault[] }
  /** 412: the object has another version now; undefined when it does not exist. */
  | { readonly code: "lostUpdate"; readonly current: number | undefined }
  /** 404 */
  | { readonly code: "missing" }
  /** 503 with Retry-After. Nothing was written, or it is not known (`detail` is a code). */
  | { readonly code: "unavailable"; readonly detail: string };

/** What the writer believes is there: a version, or that there is nothing. */
export type Expected = { readonly version: number } | "absent";

/** Who writes, for revision and audit. */
export interface Author {
  readonly by: string;
  readonly address: string | undefined;
}

export interface Written {
  readonly revision: Revision;
  /** False when the content was the same: no new revision was made. */
  readonly changed: boolean;
}

/** One difference between two configurations, without values of secrets. */
export interface Difference {
  readonly object: DocumentName;
  readonly kind: "added" | "removed" | "changed";
  /** For `changed`: the paths that differ, with what they were and are. A secret shows `{set: true}` on both sides. */
  readonly changes: readonly { readonly path: string; readonly from?: Json; readonly to?: Json }[];
}

export interface Configuration extends AsyncDisposable {
  /** Undefined while the store is empty. Never waits. */
  current(): Built | undefined;
  freshness(): Freshness;
  /** Called after `current` changed; the answer unsubscribes. */
  onChange(listener: () => void): Disposable;
  /** Reads the head from the store and rebuilds when it moved. Never fails: `freshness` says what went wrong. */
  refresh(): Promise<void>;
  /** Resolves once what is served is judged: from then on `freshness` knows whether it fits this release. */
  judged(): Promise<void>;

  list(kind: DocumentKind): readonly ObjectView[];
  get(object: DocumentName): ObjectView | undefined;
  /**
   * `{set: true}` keeps a stored secret, unless the write changes where it is sent (`endpoint`, `uri`,
   * `url`, `driver`, `tls`, `tokenEndpoint`): then each has to be given again. References have to be
   * on the allow list.
   */
  put(
    object: DocumentName,
    body: unknown,
    expected: Expected,
    author: Author,
  ): Promise<Result<Written & { readonly view: ObjectView }, ConfigRefusal>>;
  /** `missing` when it is not there; `invalid` with each place that refers to it. */
  remove(
    object: DocumentName,
    expected: Expected,
    author: Author,
  ): Promise<Result<Written, ConfigRefusal>>;

  /** What a put, or a whole file (`object` undefined), would be refused for; writes nothing. */
  validate(object: DocumentName | undefined, body: unknown): Promise<readonly ConfigFault[]>;

  /** The whole configuration in the form of the file. Secrets are `{set: true}`. */
  export(): Json;
  /**
   * Replaces the whole configuration by a file's, in one revision. `{set: true}` keeps the secret that
   * is there. Of `gateway` only `workerApi.history` is looked at: the rest is each process's own.
   */
  import(file: unknown, author: Author): Promise<Result<Written, ConfigRefusal>>;
  /** Difference from the current configuration to a file's. */
  compare(file: unknown): Promise<Result<readonly Difference[], ConfigRefusal>>;

  revisions(
    page: PageRequest,
  ): Promise<Result<Page<Omit<StoredRevision, "sealed">>, ConfigRefusal>>;
  /** Difference from one revision to another; `missing` when one is not kept any more. */
  diff(
    from: Pick<Revision, "epoch" | "sequence">,
    to: Pick<Revision, "epoch" | "sequence">,
  ): Promise<Result<readonly Difference[], ConfigRefusal>>;
  /** The content of an older revision as a new one. */
  rollback(
    to: Pick<Revision, "epoch" | "sequence">,
    author: Author,
  ): Promise<Result<Written, ConfigRefusal>>;
  /** The same content under a new epoch, after an older backup was restored. */
  newEpoch(author: Author): Promise<Result<Written, ConfigRefusal>>;
}
