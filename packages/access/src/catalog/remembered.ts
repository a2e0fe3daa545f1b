/**
 * What a catalog said of tables, remembered with its age: one question for a burst, asked again before it is too old,
 * and a bounded while longer where nobody can be asked.
 */
import type { Host } from "@gateway/core/port/host.ts";
import type { CatalogAnswer, CatalogTable } from "@gateway/core/port/sql/catalog.ts";
import { ByteLru } from "@gateway/core/tool/byteLru.ts";
import { unlessAborted } from "@gateway/core/tool/pause.ts";

/** Bytes of remembered tables. */
const bytesMax = 16 * 1024 * 1024;
/** After no answer nobody asks for this long. */
const restMs = 1_000;
/** How long what is made of an answer holds while it is being asked again. */
const glanceMs = 500;

/** Undefined where there is no such table or view. A text is the reason, for the log, why there is no answer. */
export type Said = CatalogTable | undefined | string;

/** Milliseconds, counted from the question. */
export interface Ages {
  /** How old an answer may be. 0 remembers nothing. */
  readonly ttlMs: number;
  /** From this age on a use has it asked again without waiting; absent: nobody asks before it is too old. */
  readonly behindMs?: number;
  /** How old one may be that says that there is no such table; absent: as others. */
  readonly absentMs?: number;
  /** How much older than `ttlMs` while nobody can be asked. */
  readonly staleMs?: number;
}

interface Remembered {
  readonly answer: { readonly kind: "unknown" } | ({ readonly kind: "known" } & CatalogTable);
  readonly askedMs: number;
}

export class RememberedTables {
  readonly #host: Pick<Host, "clock" | "log">;
  readonly #ages: Required<Ages>;
  readonly #ask: (path: readonly string[]) => Promise<Said>;
  readonly #about: Readonly<Record<string, string>>;
  readonly #known = new ByteLru<Remembered>(bytesMax);
  /** Being asked now, so that a burst of the same asks once. */
  readonly #asking = new Map<string, Promise<CatalogAnswer>>();
  #restsUntilMs = Number.NEGATIVE_INFINITY;

  /** `ask` never rejects, and has its own time limit. `about` stands in the log beside a reason. */
  constructor(
    host: Pick<Host, "clock" | "log">,
    ages: Ages,
    ask: (path: readonly string[]) => Promise<Said>,
    about: Readonly<Record<string, string>> = {},
  ) {
    const { ttlMs } = ages;
    this.#host = host;
    this.#ages = { behindMs: ttlMs, absentMs: ttlMs, staleMs: 0, ...ages };
    this.#ask = ask;
    this.#about = about;
  }

  /** A promise only where somebody is asked. */
  table(path: readonly string[], signal: AbortSignal): CatalogAnswer | Promise<CatalogAnswer> {
    const key = JSON.stringify(path);
    const nowMs = this.#host.clock.nowMs();
    const rests = this.#restsUntilMs > nowMs;
    const fresh = this.#fresh(key, nowMs);
    if (fresh !== undefined) {
      const { again, answer } = fresh;
      // Its failure is logged where it is asked, and what is known goes on.
      if (again && !rests && !this.#asking.has(key)) void this.#asked(key, path);
      return answer;
    }
    const asking = this.#asking.get(key) ?? (rests ? undefined : this.#asked(key, path));
    if (asking === undefined) return this.#stale(key);
    return unlessAborted(asking, signal, () => unavailable);
  }

  /** What is not too old; `again` where it soon will be. */
  #fresh(
    key: string,
    nowMs: number,
  ): { readonly answer: CatalogAnswer; readonly again: boolean } | undefined {
    const known = this.#known.get(key);
    if (known === undefined) return undefined;
    const { answer, askedMs } = known;
    const { behindMs, absentMs } = this.#ages;
    const endsMs = askedMs + this.#lifeOf(known);
    if (endsMs <= nowMs) return undefined;
    const againMs = answer.kind === "unknown" ? askedMs + absentMs : askedMs + behindMs;
    return againMs > nowMs
      ? { answer: { ...answer, untilMs: Math.min(againMs, endsMs) }, again: false }
      : { answer: { ...answer, untilMs: Math.min(nowMs + glanceMs, endsMs) }, again: true };
  }

  #lifeOf({ answer }: Remembered): number {
    const { ttlMs, absentMs } = this.#ages;
    return answer.kind === "unknown" ? Math.min(ttlMs, absentMs) : ttlMs;
  }

  /** What is too old, and not by too much. */
  #stale(key: string): CatalogAnswer {
    const known = this.#known.get(key);
    if (known === undefined) return unavailable;
    const nowMs = this.#host.clock.nowMs();
    const endsMs = known.askedMs + this.#lifeOf(known) + this.#ages.staleMs;
    if (endsMs <= nowMs) return unavailable;
    return { ...known.answer, untilMs: Math.min(nowMs + restMs, endsMs) };
  }

  #asked(key: string, path: readonly string[]): Promise<CatalogAnswer> {
    const { clock, log } = this.#host;
    // The answer is as old as the question.
    const askedMs = clock.nowMs();
    const asking = this.#ask(path)
      .then((said): CatalogAnswer => {
        if (typeof said === "string") {
          log.write("warn", "catalog.unavailable", { ...this.#about, reason: said });
          this.#restsUntilMs = clock.nowMs() + restMs;
          return this.#stale(key);
        }
        const answer: Remembered["answer"] =
          said === undefined ? { kind: "unknown" } : { kind: "known", ...said };
        const remembered = { answer, askedMs };
        if (this.#ages.ttlMs > 0) this.#known.put(key, remembered, bytesOf(key, said));
        const lifeMs = Math.min(this.#lifeOf(remembered), this.#ages.behindMs);
        return { ...answer, untilMs: askedMs + lifeMs };
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }
}

const unavailable = { kind: "unavailable" } as const;

/** Strings of two bytes a unit, and what an entry and each string take besides. */
function bytesOf(key: string, said: CatalogTable | undefined): number {
  const { columns = [], types = [] } = said ?? {};
  const texts = [key, ...columns, ...types];
  return texts.reduce((sum, text) => sum + 2 * text.length + 40, 200);
}
