/**
 * The spool's copy on disk: what waited when a process ended, whatever ended it, is sent by the next
 * one; what can not be read is counted. A copy only: sending never waits for it.
 *
 * Records lie in segments of two hundred places, sealed, each file written whole; `spool-position`
 * says which places still wait. A place that is sent and not yet noted there is sent twice, which is
 * harmless: the first record of an id is kept. A kill loses what came in the last moment before it.
 */
import type { Host } from "@gateway/core/port/host.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { z } from "zod";
import { jsonIn } from "./presence.ts";
import { seal, sealOverhead, unseal } from "./sealing.ts";
import type { StateDir } from "./stateDir.ts";

/** A redacted record as JSON, and its place in the order of all. */
export interface SpoolEntry {
  readonly at: number;
  readonly text: string;
}

/** Places in [from, until) are under way, places from `resume` on wait; all others are done. */
export interface SpoolPosition {
  readonly from: number;
  readonly until: number;
  readonly resume: number;
}

export interface Restored {
  /** Oldest first. */
  readonly entries: readonly SpoolEntry[];
  /** The first place that is free. */
  readonly next: number;
  /** Records that were on disk and can not be read. */
  readonly lost: number;
}

export interface SpoolDisk {
  readonly restored: Restored;
  add(entry: SpoolEntry): void;
  alive(position: SpoolPosition): void;
  /** Writes everything that is not on disk yet; false when that is not possible. No more is written afterwards. */
  flush(): Promise<boolean>;
  /** Why the last write failed; undefined when it did not. */
  problem(): string | undefined;
}

export interface SpoolDiskParts {
  readonly host: Pick<Host, "clock" | "log" | "randomBytes">;
  readonly dir: Pick<StateDir, "read" | "write" | "remove" | "list">;
  /** Current, then previous. The current one seals. */
  readonly secrets: readonly [Secret, ...Secret[]];
}

const segmentPlaces = 200;
const segmentBytesMax = 512 * 1024 * 1024;
/** How long a record may be in memory only. */
const writeAfterMs = 200;
/** A disk that is full is tried again after this. */
const retryMs = 5_000;
const positionFile = "spool-position";
const purpose = "history spool";

const place = z.int().min(0);
const positionSchema = z.looseObject({ from: place, until: place, resume: place, next: place });
const segmentSchema = z.array(z.tuple([place, z.string()]));

/** Reads what an earlier process left. Never throws, whatever lies in the files. */
export async function openSpoolDisk(parts: SpoolDiskParts): Promise<SpoolDisk> {
  const names = await parts.dir.list();
  const numbers = (names.ok ? names.value : [])
    .flatMap((name) => /^spool-(\d{1,12})$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
  const position = positionSchema.safeParse(await readJson(parts, positionFile));
  const waits = position.success ? (at: number) => isAlive(position.data, at) : (): boolean => true;
  const written = position.success ? position.data.next : 0;

  const entries: SpoolEntry[] = [];
  let lost = 0;
  for (const number of numbers) {
    const segment = segmentSchema.safeParse(await readJson(parts, nameOf(number)));
    const found = segment.success ? segment.data : [];
    entries.push(...found.filter(([at]) => waits(at)).map(([at, text]) => ({ at, text })));
    if (!segment.success) lost += placesIn(number, written).filter(waits).length;
  }
  const after = ((numbers.at(-1) ?? -1) + 1) * segmentPlaces;
  // New places begin in a new segment, so that none of the old files is written over before it is empty.
  const next = Math.max(after, written);
  return new Mirror(parts, { entries, next, lost }, numbers);
}

class Mirror implements SpoolDisk {
  readonly restored: Restored;
  readonly #parts: SpoolDiskParts;
  /** Texts of places that are not done, by segment. */
  readonly #segments = new Map<number, Map<number, string>>();
  /** Segments that have a file. */
  readonly #files: Set<number>;
  readonly #dirty = new Set<number>();
  #position: SpoolPosition;
  #next: number;
  #moved = true;
  #timer: Disposable | undefined;
  #writing: Promise<boolean> | undefined;
  #problem: string | undefined;
  #ended = false;

  constructor(parts: SpoolDiskParts, restored: Restored, files: readonly number[]) {
    this.#parts = parts;
    this.restored = restored;
    this.#files = new Set(files);
    this.#next = restored.next;
    const from = restored.entries[0]?.at ?? restored.next;
    this.#position = { from, until: from, resume: from };
    // Written anew: under the current secret, and without what could not be read.
    for (const entry of restored.entries) this.#keep(entry);
    this.#plan(writeAfterMs);
  }

  add(entry: SpoolEntry): void {
    this.#keep(entry);
    this.#next = Math.max(this.#next, entry.at + 1);
    this.#plan(writeAfterMs);
  }

  alive(position: SpoolPosition): void {
    const { from, until, resume } = this.#position;
    if (position.from === from && position.until === until && position.resume === resume) return;
    this.#position = position;
    this.#moved = true;
    for (const [number, texts] of this.#segments) {
      // Segments stand in their order, and from here on everything waits.
      if (number * segmentPlaces >= position.resume) break;
      for (const at of texts.keys()) if (!isAlive(position, at)) texts.delete(at);
      if (texts.size === 0) this.#segments.delete(number);
    }
    this.#plan(writeAfterMs);
  }

  async flush(): Promise<boolean> {
    this.#ended = true;
    this.#timer?.[Symbol.dispose]();
    await this.#writing;
    return this.#write();
  }

  #keep({ at, text }: SpoolEntry): void {
    const number = Math.floor(at / segmentPlaces);
    const texts = this.#segments.get(number) ?? new Map<number, string>();
    this.#segments.set(number, texts);
    texts.set(at, text);
    this.#dirty.add(number);
  }

  #plan(ms: number): void {
    if (this.#timer !== undefined || this.#writing !== undefined || this.#ended) return;
    this.#timer = this.#parts.host.clock.timer(ms, () => {
      this.#timer = undefined;
      this.#writing = this.#write()
        .catch((bug: unknown) => {
          this.#parts.host.log.bug(bug);
          return false;
        })
        .then((wrote) => {
          this.#writing = undefined;
          if (!wrote) this.#plan(retryMs);
          else if (this.#dirty.size > 0 || this.#moved) this.#plan(writeAfterMs);
          return wrote;
        });
    });
  }

  /** Segments before the position that names them, and removals last: a crash in between repeats, never forgets. */
  async #write(): Promise<boolean> {
    const { dir } = this.#parts;
    // What comes while this is written has its turn later.
    const due = Array.from(this.#dirty);
    for (const number of due) {
      this.#dirty.delete(number);
      const texts = this.#segments.get(number);
      if (texts === undefined) continue;
      if (!(await this.#put(nameOf(number), [...texts]))) {
        this.#dirty.add(number);
        return false;
      }
      this.#files.add(number);
    }
    if (this.#moved) {
      this.#moved = false;
      if (!(await this.#put(positionFile, { ...this.#position, next: this.#next }))) {
        this.#moved = true;
        return false;
      }
    }
    for (const number of this.#files) {
      if (this.#segments.has(number)) continue;
      const removed = await dir.remove(nameOf(number));
      if (removed.ok) this.#files.delete(number);
    }
    return true;
  }

  problem(): string | undefined {
    return this.#problem;
  }

  async #put(name: string, value: unknown): Promise<boolean> {
    const { dir, host, secrets } = this.#parts;
    const bytes = Buffer.from(JSON.stringify(value), "utf8");
    const sealed = seal(bytes, secrets[0], { purpose, context: name }, host);
    const wrote = await dir.write(name, sealed);
    const problem = wrote.ok ? undefined : wrote.error;
    if (problem !== this.#problem) {
      this.#problem = problem;
      if (problem === undefined) host.log.write("info", "history.spoolWritten", {});
      else host.log.write("error", "history.spoolFailed", { reason: problem });
    }
    return wrote.ok;
  }
}

function isAlive({ from, until, resume }: SpoolPosition, at: number): boolean {
  return at >= resume || (at >= from && at < until);
}

function placesIn(number: number, written: number): readonly number[] {
  const first = number * segmentPlaces;
  const count = Math.max(0, Math.min(segmentPlaces, written - first));
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Undefined for what is missing, not ours, changed, or no JSON. */
async function readJson({ dir, secrets }: SpoolDiskParts, name: string): Promise<unknown> {
  const file = await dir.read(name, segmentBytesMax + sealOverhead);
  if (!file.ok || file.value === undefined) return undefined;
  const opened = unseal(file.value, secrets, { purpose, context: name });
  return opened.ok ? jsonIn(opened.value.bytes) : undefined;
}

function nameOf(number: number): string {
  return `spool-${number}`;
}
