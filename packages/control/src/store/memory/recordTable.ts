/**
 * Records in memory, as columns outside the heap: what each has its own of as numbers and bytes, and what many have in
 * common by pointing at their form. A record becomes text again when somebody reads it, which few ever do.
 *
 * Every query puts one here, so it takes no object of its own where the last records were alike: objects that live
 * for long are copied twice by the collector and walked by it again and again.
 */
import type { QueryRecord } from "@gateway/contract/record.ts";
import { Recent, type Recognised } from "@gateway/core/tool/recent.ts";
import {
  RecordForms,
  type RecordFace,
  type RecordFigures,
  type RecordForm,
} from "@gateway/core/record/form.ts";
import { contentHashOf } from "../written.ts";
import { idHash, IdIndex, type Slots } from "./idIndex.ts";
import { Pages } from "./pages.ts";

const chunkSlots = 4_096;
const figureCount = 7;
/** Room for an id of the gateway's; a longer one, or one beyond ASCII, is kept as it is. */
const idBytes = 40;
const longId = 255;
/**
 * So many records a form must have had before more point at it. Where many users and statements come in turns, forms
 * come and go, and each takes more memory than a record.
 */
const usesMin = 8;
const facesMax = 16;

/** Where texts lie: the whole record, or its statement and then its tags. */
class Place {
  readonly page: Buffer;
  readonly from: number;
  /** Negative where the text is whole. */
  readonly tagsFrom: number;
  readonly end: number;

  constructor(page: Buffer, from: number, tagsFrom: number, end: number) {
    this.page = page;
    this.from = from;
    this.tagsFrom = tagsFrom;
    this.end = end;
  }

  text(from: number, end: number): string {
    return this.page.toString("utf8", from, end);
  }
}

/** The statement and tags that a form had last. */
interface Last {
  readonly form: RecordForm;
  readonly statement: string;
  readonly tags: string;
  readonly place: Place;
}

/** The face of a record whose text is whole. */
class Face implements RecordFace, Recognised<RecordFace> {
  readonly user: string;
  readonly status: RecordFace["status"];
  readonly clusterGroup: string | undefined;
  readonly cluster: string | undefined;
  readonly frontend: string;
  readonly errorCode: string | undefined;
  readonly worker: string | undefined;

  constructor(record: RecordFace) {
    this.user = record.user;
    this.status = record.status;
    this.clusterGroup = record.clusterGroup;
    this.cluster = record.cluster;
    this.frontend = record.frontend;
    this.errorCode = record.errorCode;
    this.worker = record.worker;
  }

  suits(record: RecordFace): boolean {
    return (
      this.user === record.user &&
      this.status === record.status &&
      this.clusterGroup === record.clusterGroup &&
      this.cluster === record.cluster &&
      this.frontend === record.frontend &&
      this.errorCode === record.errorCode &&
      this.worker === record.worker
    );
  }
}

class Chunk {
  readonly figures = new Float64Array(chunkSlots * figureCount);
  readonly ids = new Uint8Array(chunkSlots * idBytes);
  readonly idLengths = new Uint8Array(chunkSlots);
  readonly hashes = new Int32Array(chunkSlots);
  /** A form where the record is written from it. */
  readonly faces: (RecordForm | Face | undefined)[] = Array.from({ length: chunkSlots });
  readonly places: (Place | undefined)[] = Array.from({ length: chunkSlots });
  /** Made when the first record comes with one. */
  contentHashes: (string | undefined)[] | undefined;
}

export class RecordTable implements Slots {
  readonly #chunks: Chunk[] = [];
  readonly #free: number[] = [];
  /** Slots that were ever used. */
  #used = 0;
  readonly #longIds = new Map<number, string>();
  readonly #index = new IdIndex(this);
  readonly #pages = new Pages();
  readonly #forms = new RecordForms();
  readonly #faces = new Recent<RecordFace, Face>(facesMax);
  readonly #last: Last[] = [];
  #lastAt = 0;

  /** The slot of the record with this id. */
  find(id: string): number | undefined {
    return this.#index.find(id, idHash(id));
  }

  /**
   * Keeps a record whose id is not there. Throws for one that holds what no store can. `contentHash`: where it is not
   * that of the text.
   */
  put(record: QueryRecord, contentHash?: string): number {
    return this.#put(record, idHash(record.proxyQueryId), contentHash);
  }

  /** The same for one whose id may be there; undefined where it is. */
  putNew(record: QueryRecord): number | undefined {
    const hash = idHash(record.proxyQueryId);
    const there = this.#index.find(record.proxyQueryId, hash);
    return there === undefined ? this.#put(record, hash, undefined) : undefined;
  }

  #put(record: QueryRecord, hash: number, contentHash: string | undefined): number {
    checkFigures(record);
    const form = this.#forms.of(record);
    const shares = form.uses >= usesMin;
    const place = shares ? this.#sharedPlace(form, record) : this.#wholePlace(form, record);
    const slot = this.#slot();
    const { chunk, at } = this.#where(slot);
    chunk.faces[at] = shares ? form : this.#faceOf(record);
    chunk.places[at] = place;
    putFigures(chunk.figures, at * figureCount, record);
    if (contentHash !== undefined) {
      chunk.contentHashes ??= Array.from({ length: chunkSlots });
      chunk.contentHashes[at] = contentHash;
    }
    chunk.hashes[at] = hash;
    this.#putId(chunk, at, record.proxyQueryId, slot);
    this.#index.add(slot, hash);
    return slot;
  }

  remove(slot: number): void {
    const { chunk, at } = this.#where(slot);
    this.#index.remove(slot, this.hashAt(slot));
    if (chunk.idLengths[at] === longId) this.#longIds.delete(slot);
    chunk.faces[at] = undefined;
    chunk.places[at] = undefined;
    if (chunk.contentHashes !== undefined) chunk.contentHashes[at] = undefined;
    this.#free.push(slot);
  }

  hashAt(slot: number): number {
    return this.#chunkOf(slot).hashes[slot % chunkSlots] ?? 0;
  }

  hasId(slot: number, id: string): boolean {
    return this.compareId(slot, id) === 0;
  }

  id(slot: number): string {
    const { chunk, at } = this.#where(slot);
    const length = chunk.idLengths[at] ?? 0;
    if (length === longId) return this.#longIds.get(slot) ?? "";
    const from = at * idBytes;
    return Buffer.from(chunk.ids.buffer, chunk.ids.byteOffset + from, length).toString("latin1");
  }

  /** Negative where the slot's id comes first, by UTF-16 code units. */
  compareId(slot: number, id: string): number {
    const { chunk, at } = this.#where(slot);
    const length = chunk.idLengths[at] ?? 0;
    if (length === longId) {
      const own = this.#longIds.get(slot) ?? "";
      return own === id ? 0 : own < id ? -1 : 1;
    }
    const from = at * idBytes;
    const both = Math.min(length, id.length);
    for (let index = 0; index < both; index += 1) {
      const difference = (chunk.ids[from + index] ?? 0) - id.charCodeAt(index);
      if (difference !== 0) return difference;
    }
    return length - id.length;
  }

  /** Whole milliseconds of `createdAt`, because that is what a column of the other stores orders by. */
  at(slot: number): number {
    return Math.floor(this.#figure(slot, 0));
  }

  durations(slot: number): { readonly ranMs: number; readonly waitedMs: number } {
    return { ranMs: this.#figure(slot, 4), waitedMs: this.#figure(slot, 3) };
  }

  face(slot: number): RecordFace | undefined {
    const { chunk, at } = this.#where(slot);
    return chunk.faces[at];
  }

  /** The hash that it came with, or that of its text. */
  contentHash(slot: number): string {
    const { chunk, at } = this.#where(slot);
    return chunk.contentHashes?.[at] ?? contentHashOf(this.text(slot));
  }

  /** Its canonical JSON. */
  text(slot: number): string {
    const { chunk, at } = this.#where(slot);
    const [form, place] = [chunk.faces[at], chunk.places[at]];
    if (place === undefined) throw new RangeError("no record there");
    const { from, tagsFrom, end } = place;
    if (tagsFrom < 0 || form === undefined || form instanceof Face) return place.text(from, end);
    const statement = place.text(from, tagsFrom);
    return form.whole(this.#figures(slot), statement, place.text(tagsFrom, end));
  }

  #slot(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#used === this.#chunks.length * chunkSlots) this.#chunks.push(new Chunk());
    this.#used += 1;
    return this.#used - 1;
  }

  #chunkOf(slot: number): Chunk {
    const chunk = this.#chunks[Math.floor(slot / chunkSlots)];
    if (chunk === undefined) throw new RangeError("no such slot");
    return chunk;
  }

  #where(slot: number): { readonly chunk: Chunk; readonly at: number } {
    return { chunk: this.#chunkOf(slot), at: slot % chunkSlots };
  }

  #putId(chunk: Chunk, at: number, id: string, slot: number): void {
    chunk.idLengths[at] = putAscii(chunk.ids, at * idBytes, id) ? id.length : longId;
    if (chunk.idLengths[at] === longId) this.#longIds.set(slot, id);
  }

  #figure(slot: number, index: number): number {
    const { chunk, at } = this.#where(slot);
    return chunk.figures[at * figureCount + index] ?? 0;
  }

  #figures(slot: number): RecordFigures {
    const startedAt = this.#figure(slot, 1);
    return {
      proxyQueryId: this.id(slot),
      createdAt: this.#figure(slot, 0),
      startedAt: Number.isNaN(startedAt) ? undefined : startedAt,
      finishedAt: this.#figure(slot, 2),
      queueMs: this.#figure(slot, 3),
      executionMs: this.#figure(slot, 4),
      rowsReturned: this.#figure(slot, 5),
      bytesReturned: this.#figure(slot, 6),
    };
  }

  #faceOf(record: RecordFace): Face {
    const known = this.#faces.find(record);
    if (known !== undefined) return known;
    const made = new Face(record);
    this.#faces.keep(made);
    return made;
  }

  #wholePlace(form: RecordForm, record: QueryRecord): Place {
    const text = form.whole(record, form.statementOf(record), form.tagsOf(record));
    const from = this.#pages.put(text);
    return new Place(this.#pages.page, from, -1, this.#pages.end);
  }

  /** Where the statement and tags of this record lie already, or lie now. */
  #sharedPlace(form: RecordForm, record: QueryRecord): Place {
    const statement = form.statementOf(record);
    const tags = form.tagsOf(record);
    const known = this.#lastOf(form);
    if (known?.statement === statement && known.tags === tags) return known.place;
    const text = statement + tags;
    const from = this.#pages.put(text);
    const tagsFrom = this.#pages.end - Buffer.byteLength(tags);
    const place = new Place(this.#pages.page, from, tagsFrom, this.#pages.end);
    const kept = known === undefined ? this.#lastAt : this.#last.indexOf(known);
    if (known === undefined) this.#lastAt = (this.#lastAt + 1) % facesMax;
    this.#last[kept] = { form, statement, tags, place };
    return place;
  }

  #lastOf(form: RecordForm): Last | undefined {
    for (const last of this.#last) if (last.form === form) return last;
    return undefined;
  }
}

function putFigures(figures: Float64Array, from: number, record: RecordFigures): void {
  figures[from] = record.createdAt;
  figures[from + 1] = record.startedAt ?? Number.NaN;
  figures[from + 2] = record.finishedAt;
  figures[from + 3] = record.queueMs;
  figures[from + 4] = record.executionMs;
  figures[from + 5] = record.rowsReturned;
  figures[from + 6] = record.bytesReturned;
}

function checkFigures(record: RecordFigures): void {
  const finite =
    Number.isFinite(record.startedAt ?? 0) &&
    Number.isFinite(record.createdAt) &&
    Number.isFinite(record.finishedAt) &&
    Number.isFinite(record.queueMs) &&
    Number.isFinite(record.executionMs) &&
    Number.isFinite(record.rowsReturned) &&
    Number.isFinite(record.bytesReturned);
  if (!finite) throw new TypeError("not a JSON number");
}

/** False where it has no room, or is no ASCII. */
function putAscii(bytes: Uint8Array, from: number, text: string): boolean {
  if (text.length > idBytes) return false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7e) return false;
    bytes[from + at] = unit;
  }
  return true;
}
