/**
 * One mirror: a thread with empty shells of the tables of one scope. It is filled before its first statement,
 * and again when its listing is old. Statements take turns (turns.ts).
 */
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { abortedWith, Canceller } from "@gateway/core/tool/canceller.ts";
import type { TableScope } from "@gateway/core/port/door.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { AnswerCache } from "./answerCache.ts";
import { MirrorLink, type MirrorOutcome } from "./link.ts";
import type { MirrorCommand } from "./message.ts";
import { defaultSchema, fillOf, shellsMax, shellsOf, type Shells } from "./shells.ts";
import { Turns, type Turn } from "./turns.ts";

/** How old a listing may be. Changes made over this frontend are seen at once. */
const listingMsMax = 30_000;
/** A statement that takes longer is ended, with the thread it runs in. */
export const statementMsMax = 5_000;
/** Starting and filling may take this long: thousands of tables, on a busy machine. */
const fillMsMax = 60_000;

export interface MirrorParts {
  readonly host: Host;
  /** The catalog to show; undefined for the engine's default. */
  readonly catalog: string | undefined;
  /** Catalogs the session may reach, the default first. */
  catalogs(): readonly string[];
  /** Called whenever a statement has ended. */
  free(): void;
}

/** Who asks, and how old the listing of tables may be. */
export interface AskOptions {
  readonly user: string;
  readonly freshFromMs: number;
  readonly signal: AbortSignal;
}

const closed: MirrorOutcome = { kind: "lost", code: "closed" };
const failedText = "the mirror of the catalogs could not be started";

const unfilled: Shells = new Map();

export class Mirror implements AsyncDisposable {
  readonly #parts: MirrorParts;
  readonly #answers = new AnswerCache();
  #link: MirrorLink | undefined;
  #shells: Shells = unfilled;
  /** The schema that bare names mean to the backend. */
  #schema: string | undefined;
  #listedAtMs = Number.NEGATIVE_INFINITY;
  readonly #turns: Turns;
  #closed = false;

  constructor(parts: MirrorParts) {
    this.#parts = parts;
    this.#turns = new Turns(parts.host.clock);
  }

  /** Statements that run or wait. */
  get busy(): number {
    return this.#turns.busy;
  }

  /**
   * Runs or describes one statement, in turn, over a listing that is no older than `freshFromMs`. `commandFor` is
   * called when that is there, because only then the schema of bare names is known.
   */
  async ask(
    commandFor: (schema: string | undefined) => MirrorCommand,
    scope: TableScope,
    options: AskOptions,
  ): Promise<Result<MirrorOutcome, GatewayError>> {
    const { user, signal } = options;
    const taken = await this.#turns.take(user, signal);
    if (!taken.ok) return taken;
    if (taken.value === undefined) return ok(closed);
    // A client that cancels is answered at once; the thread ends its work by itself.
    return await Promise.race([
      this.#inTurn(taken.value, commandFor, scope, options),
      abortOf(signal),
    ]);
  }

  async #inTurn(
    turn: Turn,
    commandFor: (schema: string | undefined) => MirrorCommand,
    scope: TableScope,
    { freshFromMs, signal }: AskOptions,
  ): Promise<Result<MirrorOutcome, GatewayError>> {
    let late = false;
    try {
      if (signal.aborted) return err(abortError(signal));
      if (this.#closed) return ok(closed);
      const ready = await this.#fresh(scope, freshFromMs, signal);
      if (!ready.ok) return ready;
      const outcome = await this.#answer(commandFor(this.#schema));
      late = outcome.kind === "lost" && outcome.code !== "closed";
      return ok(outcome);
    } finally {
      turn.end(late);
      this.#parts.free();
    }
  }

  /** Finishes the statement that runs, then ends. Those who wait are told `closed`. */
  async retire(): Promise<void> {
    await this.#turns.close();
    await this[Symbol.asyncDispose]();
  }

  /** Ends the thread, which frees its memory. Those who wait are told `closed`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    void this.#turns.close();
    await this.#drop();
  }

  async #answer(command: MirrorCommand): Promise<MirrorOutcome> {
    const known = this.#answers.find(command);
    if (known !== undefined) return known;
    const outcome = await this.#limited(command, statementMsMax);
    this.#answers.put(command, outcome);
    return outcome;
  }

  async #drop(): Promise<void> {
    const link = this.#link;
    this.#forget();
    await link?.[Symbol.asyncDispose]();
  }

  #forget(): void {
    this.#link = undefined;
    this.#answers.clear();
    this.#shells = unfilled;
    this.#listedAtMs = Number.NEGATIVE_INFINITY;
  }

  async #fresh(
    scope: TableScope,
    freshFromMs: number,
    signal: AbortSignal,
  ): Promise<Result<void, GatewayError>> {
    const { clock, log } = this.#parts.host;
    if (this.#link?.ended !== undefined) this.#forget();
    const nowMs = clock.nowMs();
    const filled = this.#link !== undefined;
    if (filled && this.#listedAtMs >= Math.max(freshFromMs, nowMs - listingMsMax)) {
      return ok(undefined);
    }
    // Loading takes as long as many listings do.
    this.#link ??= new MirrorLink(this.#parts.host.threads);
    const controller = new Canceller();
    const late = (): void => controller.abort(gatewayError("query.timeout"));
    using _limit = clock.timer(fillMsMax, late);
    using _with = abortedWith(signal, controller);
    const listed = await scope.list(controller.signal);
    if (listed.ok) return await this.#fill(listed.value, nowMs);
    if (!filled) {
      await this.#drop();
      return listed;
    }
    // An older listing tells the client more than an error does.
    log.write("warn", "catalog.listingFailed", { code: listed.error.code });
    return ok(undefined);
  }

  async #fill(tables: readonly TableListing[], nowMs: number): Promise<Result<void, GatewayError>> {
    const { log } = this.#parts.host;
    const catalogs = this.#catalogsOf(tables);
    const [catalog = ""] = catalogs;
    const shells = shellsOf(tables, catalog);
    if (shells.size >= shellsMax) log.write("warn", "catalog.tooManyTables", { shown: shellsMax });
    const fill = fillOf(this.#shells, shells, catalogs);
    const changed =
      this.#shells === unfilled || fill.shells.length > 0 || shells.size !== this.#shells.size;
    if (changed) {
      this.#answers.clear();
      const outcome = await this.#limited({ kind: "fill", ...fill }, fillMsMax);
      if (outcome.kind !== "filled") {
        log.write("warn", "catalog.mirrorFailed", {
          code: outcome.kind === "lost" ? outcome.code : outcome.kind,
        });
        await this.#drop();
        return this.#closed
          ? ok(undefined)
          : err(gatewayError("engine.failed", { message: failedText }));
      }
      if (outcome.skipped > 0)
        log.write("warn", "catalog.tablesLeftOut", { count: outcome.skipped });
    }
    this.#shells = shells;
    this.#schema = defaultSchema(tables, catalog);
    this.#listedAtMs = nowMs;
    return ok(undefined);
  }

  /** Catalogs that hold tables or that the session may reach; the one that the mirror shows comes first. */
  #catalogsOf(tables: readonly TableListing[]): readonly string[] {
    const held = new Set(tables.map(({ catalog }) => catalog));
    const reachable = this.#parts.catalogs();
    const [any] = held;
    const current =
      this.#parts.catalog ?? reachable.find((name) => held.has(name)) ?? any ?? reachable[0];
    const all = new Set([current ?? "gateway", ...reachable, ...held]);
    return [...all];
  }

  /** Asks the thread, and ends it when it takes longer: nothing else stops it. */
  async #limited(command: MirrorCommand, limitMs: number): Promise<MirrorOutcome> {
    const link = this.#link;
    if (link === undefined) return closed;
    using _limit = this.#parts.host.clock.timer(limitMs, () => void link.end("timeout"));
    return await link.ask(command);
  }
}

function abortOf(signal: AbortSignal): Promise<Result<never, GatewayError>> {
  return new Promise((resolve) => {
    const settle = (): void => resolve(err(abortError(signal)));
    signal.addEventListener("abort", settle, { once: true });
  });
}
