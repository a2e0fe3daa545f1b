/**
 * The spool's copy on disk. What waited when a process ended, whatever ended it, the next one
 * sends; what is missing is counted exactly.
 *
 * Records lie in segments of two hundred places, sealed, each file written whole. Beside them lies
 * a count (spoolCount.ts), written before an engine sees a query. Whatever the moment of a kill,
 * the two agree: a place leaves its segment only after the count says that it is done, and a record
 * is sent only when it is in its segment. So what the count holds and no segment has is lost, and
 * nothing else is. A place that is sent and not yet noted is sent twice, which is harmless: the
 * first record of an id is kept.
 */
import type { Host } from "@gateway/core/port/host.ts";
import type { Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { z } from "zod";
import { jsonIn } from "../link/presence.ts";
import { seal, sealOverhead, unseal } from "../state/sealing.ts";
import { putSpoolCount, spoolCountBytes, spoolCountOf, type SpoolCount } from "./spoolCount.ts";
import type { Cell, StateDir } from "../state/stateDir.ts";

/** A redacted record as JSON, and its place in the order of all. */
export interface SpoolEntry {
  readonly at: number;
  readonly text: string;
}

/** What the spool knows of the count; the rest is the disk's. */
export type SpoolPosition = Omit<SpoolCount, "next">;

export interface Restored {
  /** Oldest first. */
  readonly entries: readonly SpoolEntry[];
  /** The first place that is free. */
  readonly next: number;
  /** Queries that were begun and have no record here: running or fresh at a kill, or in a file that can not be read. */
  readonly lost: number;
  /** Records declared lost before. */
  readonly dropped: number;
}

export interface SpoolDisk {
  readonly restored: Restored;
  add(entry: SpoolEntry): void;
  alive(position: SpoolPosition): void;
  /** Notes the position, which then outlives a kill; takes microseconds. */
  note(): void;
  /** Resolves when all that was added is on disk, or as soon as that is known to be impossible. Never rejects. */
  written(): Promise<void>;
  /** Writes everything that is not on disk yet; false when that is not possible. No more is written afterwards. */
  flush(): Promise<boolean>;
  /** Why the last write failed; undefined when it did not. */
  problem(): string | undefined;
}

export interface SpoolDiskParts {
  readonly host: Pick<Host, "clock" | "log" | "randomBytes">;
  readonly dir: Pick<StateDir, "read" | "write" | "remove" | "list" | "cell">;
  /** Current, then previous. The current one seals. */
  readonly secrets: readonly [Secret, ...Secret[]];
}

const segmentPlaces = 200;
const segmentBytesMax = 512 * 1024 * 1024;
/** How long a record may exist in memory alone. */
const writeAfterMs = 200;
/** A disk that is full is tried again after this. */
const retryMs = 5_000;
export const spoolCountFile = "spool-count";
/** What the first release kept instead: sealed, and written too late to count by. */
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
  const cell = await parts.dir.cell(spoolCountFile);
  const count = cell.ok ? spoolCountOf(cell.value.found) : undefined;
  const position = count ?? (await readPosition(parts));

  const entries: SpoolEntry[] = [];
  const changed: number[] = [];
  for (const number of numbers) {
    const segment = segmentSchema.safeParse(await readJson(parts, nameOf(number)));
    const found = segment.success ? segment.data : [];
    const alive = found.filter(([at]) => position === undefined || isAlive(position, at));
    entries.push(...alive.map(([at, text]) => ({ at, text })));
    if (alive.length < found.length) changed.push(number);
  }
  const after = ((numbers.at(-1) ?? -1) + 1) * segmentPlaces;
  // New places begin in a new segment, so that no old file is overwritten before it is empty.
  const next = Math.max(after, position?.next ?? 0);
  const lost = Math.max(0, (count?.waiting ?? 0) - entries.length);
  const restored = { entries, next, lost, dropped: count?.dropped ?? 0 };
  if (cell.ok && cell.value.found.length > 0 && count === undefined) {
    parts.host.log.write("error", "history.countDamaged", { found: entries.length });
  }
  const mirror = new Mirror(parts, restored, numbers, cell);
  await mirror.clean(changed);
  return mirror;
}

class Mirror implements SpoolDisk {
  readonly restored: Restored;
  readonly #parts: SpoolDiskParts;
  /** Texts of places that are not done, by segment. */
  readonly #segments = new Map<number, Map<number, string>>();
  /** Segments that have a file. */
  readonly #files: Set<number>;
  readonly #dirty = new Set<number>();
  readonly #cell: Result<Cell, string>;
  readonly #noted = Buffer.alloc(spoolCountBytes);
  #position: SpoolPosition;
  #next: number;
  #moved = true;
  #timer: Disposable | undefined;
  #writing: Promise<boolean> | undefined;
  #problem: string | undefined;
  #ended = false;
  #closed = false;

  constructor(
    parts: SpoolDiskParts,
    restored: Restored,
    files: readonly number[],
    cell: Result<Cell, string>,
  ) {
    this.#parts = parts;
    this.#cell = cell;
    this.restored = restored;
    this.#files = new Set(files);
    this.#next = restored.next;
    const from = restored.entries[0]?.at ?? restored.next;
    const { lost, entries } = restored;
    const dropped = restored.dropped + lost;
    this.#position = { from, until: from, resume: from, waiting: entries.length, dropped };
    // Written anew: under the current secret, and without what could not be read.
    for (const entry of restored.entries) this.#keep(entry);
    this.#plan(writeAfterMs);
  }

  /** Takes out of these segments what is done, before a new count forgets that it is. */
  async clean(numbers: readonly number[]): Promise<void> {
    for (const number of numbers) {
      const texts = this.#segments.get(number);
      if (texts !== undefined) await this.#put(nameOf(number), [...texts]);
      else await this.#parts.dir.remove(nameOf(number));
    }
  }

  add(entry: SpoolEntry): void {
    this.#keep(entry);
    this.#next = Math.max(this.#next, entry.at + 1);
    this.#plan(writeAfterMs);
  }

  alive(position: SpoolPosition): void {
    const { from, until, resume, waiting, dropped } = this.#position;
    const counted = position.waiting === waiting && position.dropped === dropped;
    this.#position = position;
    if (!counted) this.#moved = true;
    // While segments can not be written, only this brings the count up to date before a kill.
    if (!counted && this.#problem !== undefined) this.note();
    if (position.from === from && position.until === until && position.resume === resume) return;
    this.#moved = true;
    for (const [number, texts] of this.#segments) {
      // Segments are in order: from here on every place waits.
      if (number * segmentPlaces >= position.resume) break;
      for (const at of texts.keys()) if (!isAlive(position, at)) texts.delete(at);
      if (texts.size === 0) this.#segments.delete(number);
    }
    this.#plan(writeAfterMs);
  }

  note(): void {
    if (this.#closed) return;
    if (!this.#cell.ok) return this.#became(this.#cell.error);
    putSpoolCount(this.#noted, { ...this.#position, next: this.#next });
    const problem = this.#cell.value.put(this.#noted);
    // That this file can be written does not mean that the segments can.
    if (problem !== undefined) this.#became(problem);
  }

  async written(): Promise<void> {
    // The write that runs may have begun before the last record came.
    await this.#writing;
    if (this.#dirty.size === 0 || this.#problem !== undefined || this.#ended) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    await this.#begin();
  }

  async flush(): Promise<boolean> {
    this.#ended = true;
    this.#timer?.[Symbol.dispose]();
    await this.#writing;
    const wrote = await this.#write();
    this.#closed = true;
    if (this.#cell.ok) await this.#cell.value[Symbol.asyncDispose]();
    return wrote;
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
      void this.#begin();
    });
  }

  /** One write at a time. Never rejects. */
  #begin(): Promise<boolean> {
    this.#writing ??= this.#write()
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
    return this.#writing;
  }

  async #write(): Promise<boolean> {
    const { dir } = this.#parts;
    // What comes while this is written has its turn later.
    const due = Array.from(this.#dirty);
    for (const number of due) {
      this.#dirty.delete(number);
      const texts = this.#segments.get(number);
      if (texts === undefined) continue;
      const alive = [...texts];
      // Before a place leaves its file the count says that it is done.
      if (!(await this.#counted()) || !(await this.#put(nameOf(number), alive))) {
        this.#dirty.add(number);
        return false;
      }
      this.#files.add(number);
    }
    const empty = Array.from(this.#files).filter((number) => !this.#segments.has(number));
    if (this.#moved && !(await this.#counted())) return false;
    for (const number of empty) {
      const removed = await dir.remove(nameOf(number));
      if (removed.ok) this.#files.delete(number);
    }
    return true;
  }

  problem(): string | undefined {
    return this.#problem;
  }

  /** The count as it is now, on the disk. */
  async #counted(): Promise<boolean> {
    this.#moved = false;
    this.note();
    if (!this.#cell.ok) return false;
    const flushed = await this.#cell.value.flush();
    if (flushed.ok) return true;
    this.#moved = true;
    this.#became(flushed.error);
    return false;
  }

  async #put(name: string, value: unknown): Promise<boolean> {
    const { dir, host, secrets } = this.#parts;
    const bytes = Buffer.from(JSON.stringify(value), "utf8");
    const sealed = seal(bytes, secrets[0], { purpose, context: name }, host);
    const wrote = await dir.write(name, sealed);
    this.#became(wrote.ok ? undefined : wrote.error);
    return wrote.ok;
  }

  #became(problem: string | undefined): void {
    if (problem === this.#problem) return;
    const { log } = this.#parts.host;
    this.#problem = problem;
    if (problem === undefined) log.write("info", "history.spoolWritten", {});
    else log.write("error", "history.spoolFailed", { reason: problem });
  }
}

type Places = Pick<SpoolPosition, "from" | "until" | "resume">;

function isAlive({ from, until, resume }: Places, at: number): boolean {
  return at >= resume || (at >= from && at < until);
}

/** Read once: the count takes its place. */
async function readPosition(
  parts: SpoolDiskParts,
): Promise<(Places & Pick<SpoolCount, "next">) | undefined> {
  const read = positionSchema.safeParse(await readJson(parts, positionFile));
  if (!read.success) return undefined;
  await parts.dir.remove(positionFile);
  return read.data;
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
