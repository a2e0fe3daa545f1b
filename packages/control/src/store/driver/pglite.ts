/**
 * The embedded database: PGlite in a thread of its own, one connection that callers take in turns.
 *
 * PGlite itself would let two processes open one folder and ruin it; `folderLock.ts` keeps the second
 * one out, and lets commands of the same host in through `folderSocket.ts`.
 */
import { join } from "node:path";
import { mkdir } from "node:fs/promises";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type {
  StatementResult,
  Database,
  DatabaseError,
  Parameter,
  Statements,
} from "../database.ts";
import { transactionOn, voided, type Connection, listenSql } from "./connection.ts";
import { connectFolder, type ConnectRefusal } from "./folderClient.ts";
import { holdFolder, type FolderHold, type HoldRefusal } from "./folderLock.ts";
import { serveSocket, type InTurn } from "./folderSocket.ts";
import { PgliteLink } from "./pgliteLink.ts";
import { PgliteUpkeep, upkeepParameters } from "./pgliteUpkeep.ts";
import { Turns } from "./turns.ts";

export interface PgliteOptions {
  /** The folder, made when absent; `:memory:` keeps nothing. */
  readonly path: string;
  readonly host: Pick<Host, "threads" | "clock" | "log">;
}

/** `startFailed`: PGlite could not start on the folder; `detail` is a code. */
export type OpenRefusal =
  | HoldRefusal
  | { readonly code: "startFailed"; readonly path: string; readonly detail: string };

/** A thread that ended is started again, but not in a tight loop. */
const restartPauseMs = 2_000;

const tooMany: DatabaseError = { kind: "unreachable", code: "tooManyStatements" };
const closed: DatabaseError = { kind: "unreachable", code: "closed" };

/**
 * Opens the folder and holds it until disposed. `inUse` when another process has it;
 * `connectPglite` then reaches that process.
 */
export async function openPglite(options: PgliteOptions): Promise<Result<Database, OpenRefusal>> {
  if (options.path === ":memory:") return started(options, undefined, undefined);
  const held = await holdFolder(options.path);
  if (!held.ok) return held;
  const opened = await openHeld(options, held.value);
  if (!opened.ok) await held.value[Symbol.asyncDispose]();
  return opened;
}

/**
 * Reaches the folder through the process that holds it, for commands beside a running gateway.
 * The answer can not listen. `notRunning` when nobody holds the folder: `openPglite` can then.
 */
export function connectPglite({
  path,
}: Pick<PgliteOptions, "path">): Promise<Result<Database, ConnectRefusal>> {
  return connectFolder(path);
}

async function openHeld(
  options: PgliteOptions,
  hold: FolderHold,
): Promise<Result<Database, OpenRefusal>> {
  const { path } = options;
  const folder = join(path, "data");
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch {
    return err({ code: "folderUnusable", path, detail: "mkdir" });
  }
  return started(options, folder, hold);
}

async function started(
  options: PgliteOptions,
  folder: string | undefined,
  hold: FolderHold | undefined,
): Promise<Result<Database, OpenRefusal>> {
  const database = new PgliteDatabase(options, folder, hold);
  const start = await database.start();
  if (start.ok) return ok(database);
  await database[Symbol.asyncDispose]();
  return err({ code: "startFailed", path: options.path, detail: start.error });
}

class PgliteDatabase implements Database {
  readonly kind = "pglite";
  readonly #options: PgliteOptions;
  readonly #folder: string | undefined;
  readonly #hold: FolderHold | undefined;
  readonly #turns = new Turns(1);
  readonly #wakes = new Map<string, Set<() => void>>();
  readonly #upkeep: PgliteUpkeep;
  #link: PgliteLink | undefined;
  #closed = false;
  #restartAtMs = 0;

  constructor(options: PgliteOptions, folder: string | undefined, hold: FolderHold | undefined) {
    this.#options = options;
    this.#folder = folder;
    this.#hold = hold;
    this.#upkeep = new PgliteUpkeep({
      clock: options.host.clock,
      idle: () => this.#turns.idle,
      inTurn: async (work) => {
        await this.#inTurn(async (connection) => ok(await work(connection)));
      },
    });
  }

  /** Starts the thread; those who connect to the folder wait for it. Refuses with a code. */
  async start(): Promise<Result<void, string>> {
    this.#link = this.#newLink();
    const { clock } = this.#options.host;
    const inTurn: InTurn = (work) => this.#inTurn(work);
    this.#hold?.accept((socket) => void serveSocket({ socket, inTurn, clock }));
    return this.#link.started;
  }

  run(
    sql: string,
    parameters: readonly Parameter[] = [],
  ): Promise<Result<StatementResult, DatabaseError>> {
    return this.#inTurn((connection) => connection.run(sql, parameters));
  }

  async script(sql: string): Promise<Result<void, DatabaseError>> {
    return voided(await this.#inTurn((connection) => connection.script(sql)));
  }

  transaction<Value, Refusal>(
    work: (statements: Statements) => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal | DatabaseError>> {
    return this.#inTurn((connection) => transactionOn(connection, work));
  }

  listen(channel: string, wake: () => void): AsyncDisposable {
    const wakes = this.#wakes.get(channel) ?? new Set();
    // A set of wrappers, so that one function may listen twice.
    const once = (): void => wake();
    wakes.add(once);
    this.#wakes.set(channel, wakes);
    // Whatever was notified before the LISTEN took effect is made up for by one wake.
    void this.script(listenSql(channel)).then(once);
    return {
      [Symbol.asyncDispose]: () => {
        wakes.delete(once);
        return Promise.resolve();
      },
    };
  }

  async renew(): Promise<void> {
    // What is in memory would be gone.
    if (this.#folder === undefined || this.#closed) return;
    using _turn = await this.#turns.take();
    const link = this.#link;
    if (link === undefined || this.#closed) return;
    this.#link = undefined;
    await link[Symbol.asyncDispose]();
    // A statement tries again where it does not start.
    await this.#linkAgain();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#upkeep[Symbol.dispose]();
    this.#wakes.clear();
    this.#hold?.hangUp();
    // Whoever is inside a transaction finishes it; those who wait find it closed.
    using _turn = await this.#turns.take();
    await this.#link?.[Symbol.asyncDispose]();
    await this.#hold?.[Symbol.asyncDispose]();
  }

  async #inTurn<Value, Refusal>(
    work: (connection: Connection) => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal | DatabaseError>> {
    const waiting = this.#closed ? undefined : this.#turns.take();
    if (waiting === undefined) return err(this.#closed ? closed : tooMany);
    using _turn = await waiting;
    if (this.#closed) return err(closed);
    const link = await this.#linkNow();
    // The link is the connection for the whole turn: a new thread would not know the transaction.
    if (!link.ok) return link;
    const outcome = await work(link.value);
    this.#upkeep.worked();
    return outcome;
  }

  async #linkNow(): Promise<Result<PgliteLink, DatabaseError>> {
    if (this.#link !== undefined) return ok(this.#link);
    const lost: DatabaseError = { kind: "unreachable", code: "threadEnded" };
    // What was in memory is gone; an empty database in its place would look like a deleted one.
    if (this.#folder === undefined) return err(lost);
    const { clock, log } = this.#options.host;
    if (clock.nowMs() < this.#restartAtMs) return err(lost);
    this.#restartAtMs = clock.nowMs() + restartPauseMs;
    const link = await this.#linkAgain();
    if (link.ok) log.write("warn", "database.threadRestarted");
    return link;
  }

  /** Another thread on the same data. Listeners hear of it, for they may have missed something. */
  async #linkAgain(): Promise<Result<PgliteLink, DatabaseError>> {
    const link = this.#newLink();
    const result = await link.started;
    if (!result.ok) return err({ kind: "unreachable", code: result.error });
    this.#link = link;
    for (const channel of this.#wakes.keys()) await link.script(listenSql(channel));
    for (const channel of this.#wakes.keys()) this.#wake(channel);
    return ok(link);
  }

  #newLink(): PgliteLink {
    const link = new PgliteLink(
      this.#options.host.threads,
      { folder: this.#folder, parameters: upkeepParameters },
      {
        notified: (channel) => this.#wake(channel),
        lost: (error) => {
          if (this.#link === link) this.#link = undefined;
          if (!this.#closed)
            this.#options.host.log.bug(error ?? new Error("the PGlite thread ended"));
        },
      },
    );
    return link;
  }

  #wake(channel: string): void {
    for (const wake of this.#wakes.get(channel) ?? []) wake();
  }
}
