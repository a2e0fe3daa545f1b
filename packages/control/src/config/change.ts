/**
 * One change of the configuration: planned on the head, built, and committed if the head is still
 * the same; planned again where it moved.
 *
 * Writes of one process wait for each other here, so that they do not compete in the database.
 */
import type { Json } from "@gateway/contract/canonical.ts";
import type { Revision } from "@gateway/contract/revision.ts";
import { snapshotSchemaVersion } from "@gateway/contract/snapshot.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { sealObject } from "./secret/object.ts";
import { buildBody, builtOf, logBytesOf, type BuiltBody } from "./snapshot/build.ts";
import { compressor } from "./snapshot/compress.ts";
import { textsOf, textsWith, type BodyTexts } from "./snapshot/texts.ts";
import type { ConfigChange, StoredDocument } from "../store/store.ts";
import type { Author, ConfigRefusal } from "./configuration.ts";
import { sameBody } from "./difference/difference.ts";
import { keyOf, type ConfigObject } from "./file.ts";
import type { Live, LiveParts } from "./state/live.ts";
import { configFamilies } from "./metrics.ts";
import { judgedLike, type Step } from "./check/known.ts";
import {
  loadConfig,
  revisionCell,
  type Loaded,
  type LoadedObject,
  type LoadRefusal,
} from "./state/loaded.ts";

/** The configuration as it is to be. */
export interface Plan {
  readonly objects: ReadonlyMap<string, ConfigObject>;
  /** True where a whole file was written: the same hash is then no change, even if its objects are divided differently. */
  readonly whole: boolean;
  /** `put`, `import`, …: for the audit. */
  readonly action: string;
  /** `cluster/duck`, or `config`. */
  readonly target: string;
  /** For people: `put cluster duck`. */
  readonly summary: string;
  /** Set where one object was put and nothing else changed, so that nobody has to search for the difference. */
  readonly step?: Step;
  /** A new epoch is a new revision whatever its content. */
  readonly newEpoch?: true;
}

/** The configuration after a change, and whether there was one. */
export interface Changed {
  readonly loaded: Loaded;
  readonly revision: Revision;
  readonly changed: boolean;
}

export type Planner = (now: Loaded) => Result<Plan, ConfigRefusal>;

/** Other processes may write as well; after so many lost races the writer is told to come again. */
const attemptsMax = 16;
/** Writes that wait for their turn; a further one is refused. */
const waitingMax = 1_000;
/** Names that an audit row lists of each sort. */
const namesMax = 100;

export class Changes {
  readonly #parts: LiveParts;
  readonly #live: Live;
  readonly #compress = compressor();
  /** What this process wrote last. Most changes build on it. */
  #newest: { readonly objects: Loaded["objects"]; readonly texts: BodyTexts } | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(parts: LiveParts, live: Live) {
    this.#parts = parts;
    this.#live = live;
  }

  /** Plans again until the head stays in place meanwhile. `plan` judges, and is called with each head. */
  async make(author: Author, plan: Planner): Promise<Result<Changed, ConfigRefusal>> {
    if (this.#waiting >= waitingMax) return err({ code: "unavailable", detail: "busy" });
    this.#waiting += 1;
    const before = this.#last;
    const made = this.#after(before, author, plan);
    // The next change waits until this one ended, well or badly.
    this.#last = made.catch(() => undefined);
    return made;
  }

  /** The same content under a new epoch. It starts from what the database holds, which may be a backup older than what is served. */
  async newEpoch(author: Author, plan: Planner): Promise<Result<Changed, ConfigRefusal>> {
    const { store, keys } = this.#parts;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const now = await loadConfig(store.config, keys);
      if (!now.ok) return err(refusalOf(now.error));
      const made = await this.#attempt(author, plan, now.value);
      if (made !== "moved") return made;
    }
    return err({ code: "unavailable", detail: "contended" });
  }

  async #after(
    before: Promise<unknown>,
    author: Author,
    plan: Planner,
  ): Promise<Result<Changed, ConfigRefusal>> {
    await before;
    try {
      return await this.#attempts(author, plan);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #attempts(author: Author, plan: Planner): Promise<Result<Changed, ConfigRefusal>> {
    // First on what is served, without asking: the commit compares the head, so only what it wrote
    // is believed. Every other answer needs a head that the store confirmed.
    const served = this.#live.loaded;
    const first = served.head === undefined ? undefined : await this.#attempt(author, plan, served);
    if (first !== undefined && first !== "moved" && isFinal(first)) return first;
    for (let attempt = first === "moved" ? 1 : 0; attempt < attemptsMax; attempt += 1) {
      const now = await this.#live.refresh();
      if (!now.ok) return err(refusalOf(now.error));
      if (first !== undefined && first !== "moved" && now.value === served) return first;
      const made = await this.#attempt(author, plan, now.value);
      if (made !== "moved") return made;
    }
    return err({ code: "unavailable", detail: "contended" });
  }

  async #attempt(
    author: Author,
    planner: Planner,
    now: Loaded,
  ): Promise<Result<Changed, ConfigRefusal> | "moved"> {
    const planned = planner(now);
    if (!planned.ok) return planned;
    const plan = planned.value;
    const diff = diffOf(now, plan);
    const texts = this.#textsOf(plan);
    const body = buildBody(plan.objects.values(), texts);
    if (now.head !== undefined && plan.newEpoch === undefined) {
      const same = diff.puts.length + diff.deletes.length === 0;
      if (same || (plan.whole && body.hash === now.head.hash)) {
        return ok({ loaded: now, revision: now.head, changed: false });
      }
    }
    const revision = this.#nextRevision(now.head, plan, body.hash);
    const createdAt = this.#parts.clock.unixMs();
    const written = { plan, diff, revision, body, texts, createdAt };
    return this.#live.during(this.#write(written, now, author));
  }

  async #write(
    written: Write,
    now: Loaded,
    author: Author,
  ): Promise<Result<Changed, ConfigRefusal> | "moved"> {
    const { plan, revision, body, createdAt } = written;
    const objects = objectsOf(written, now, author);
    const place = { revision, schemaVersion: snapshotSchemaVersion, createdAt };
    const built = await builtOf(body, place, this.#compress);
    const logged = logBytesOf(built);
    const change = this.#changeOf({ ...written, objects, logged, author });
    const stored = await this.#parts.store.config.commit(change);
    if (!stored.ok) return err(stored.error);
    if (stored.value === "moved") return "moved";
    this.#parts.metrics.counter(configFamilies.revisions, {}).add(1);
    const loaded = { head: revision, objects, built };
    this.#newest = { objects, texts: written.texts };
    this.#live.take(loaded, plan.newEpoch === undefined);
    return ok({ loaded, revision, changed: true });
  }

  #textsOf({ objects, step }: Plan): BodyTexts {
    const newest = this.#newest;
    const stepped =
      step !== undefined && newest?.objects === step.from
        ? textsWith(newest.texts, step.put)
        : undefined;
    return stepped ?? textsOf(objects.values());
  }

  #nextRevision(head: Revision | undefined, plan: Plan, hash: string): Revision {
    const nowSecs = Math.floor(this.#parts.clock.unixMs() / 1_000);
    if (head !== undefined && plan.newEpoch === undefined) {
      return { epoch: head.epoch, sequence: head.sequence + 1, hash };
    }
    // Above every epoch that workers may have seen, even if the clock went back.
    const seen = Math.max(head?.epoch ?? 0, this.#live.loaded.head?.epoch ?? 0);
    return { epoch: Math.max(nowSecs, seen + 1), sequence: 1, hash };
  }

  #changeOf({ plan, diff, revision, createdAt, objects, logged, author }: Ready): ConfigChange {
    const { keys } = this.#parts;
    const puts = diff.puts.flatMap((object): StoredDocument[] => {
      const put = objects.get(keyOf(object));
      return put === undefined ? [] : [{ ...put, ...sealObject(keys, put) }];
    });
    return {
      expected: diff.head,
      next: {
        revision,
        schemaVersion: snapshotSchemaVersion,
        sealed: keys.seal(logged, revisionCell(revision)),
        keyId: keys.currentId,
        createdAt,
        createdBy: author.by,
        summary: plan.summary,
      },
      puts,
      deletes: diff.deletes.map(({ kind, name }) => ({ kind, name })),
      audit: {
        at: createdAt,
        by: author.by,
        address: author.address,
        action: plan.action,
        target: plan.target,
        detail: auditDetail(diff, revision),
      },
    };
  }
}

interface Write {
  readonly plan: Plan;
  readonly diff: Diff;
  readonly revision: Revision;
  readonly body: BuiltBody;
  readonly texts: BodyTexts;
  readonly createdAt: number;
}

/** A write that only has to be committed. */
interface Ready extends Write {
  readonly objects: Loaded["objects"];
  /** The snapshot as the revision log keeps it, in clear. */
  readonly logged: Uint8Array;
  readonly author: Author;
}

interface Diff {
  readonly head: Revision | undefined;
  readonly puts: readonly ConfigObject[];
  readonly deletes: readonly ConfigObject[];
}

/** A failed read as the refusal of a write: nothing was written. */
export function refusalOf({ detail, code }: LoadRefusal): ConfigRefusal {
  return { code: "unavailable", detail: code === "unavailable" ? detail : code };
}

function diffOf(now: Loaded, { objects, step }: Plan): Diff {
  if (step !== undefined) {
    const before = step.from.get(keyOf(step.put));
    const same = before !== undefined && sameBody(before.body, step.put.body);
    return { head: now.head, puts: same ? [] : [step.put], deletes: [] };
  }
  const puts: ConfigObject[] = [];
  for (const [key, object] of objects) {
    const before = now.objects.get(key);
    // Most objects of a plan are those that are there.
    if (before === object || before?.body === object.body) continue;
    if (before === undefined || !sameBody(before.body, object.body)) puts.push(object);
  }
  const deletes: ConfigObject[] = [];
  for (const [key, object] of now.objects) if (!objects.has(key)) deletes.push(object);
  return { head: now.head, puts, deletes };
}

function objectsOf(written: Write, now: Loaded, { by }: Author): Loaded["objects"] {
  const { plan, diff, revision, createdAt } = written;
  const loadedOf = (object: ConfigObject, before: LoadedObject | undefined): LoadedObject => {
    // A new object begins at its sequence, above each version that one of this name ever had in
    // this epoch: an ETag from before it was deleted must not fit it.
    const version = before === undefined ? revision.sequence : before.version + 1;
    const { kind, name, body } = object;
    return { kind, name, body, version, updatedAt: createdAt, updatedBy: by };
  };
  const objects = new Map<string, LoadedObject>(plan.step === undefined ? [] : now.objects);
  const put = new Set(diff.puts);
  for (const [key, object] of plan.step === undefined ? plan.objects : keyed(diff.puts)) {
    const before = now.objects.get(key);
    const same = before !== undefined && !put.has(object);
    objects.set(key, same ? before : loadedOf(object, before));
  }
  judgedLike(plan.objects, objects);
  return objects;
}

function keyed(objects: readonly ConfigObject[]): readonly (readonly [string, ConfigObject])[] {
  return objects.map((object) => [keyOf(object), object]);
}

/** True when the store's present head can not change the outcome: it was written, or the store did not answer. */
function isFinal(made: Result<Changed, ConfigRefusal>): boolean {
  return made.ok ? made.value.changed : made.error.code === "unavailable";
}

function auditDetail({ puts, deletes }: Diff, { epoch, sequence }: Revision): Json {
  return {
    revision: `${epoch}.${sequence}`,
    put: puts.slice(0, namesMax).map(keyOf),
    deleted: deletes.slice(0, namesMax).map(keyOf),
    count: puts.length + deletes.length,
  };
}
