/** One connection: messages out, messages and rows in as they are asked for, and what the connection remembers. */
import type { Duplex } from "node:stream";
import { ByteWriter, Scratch } from "@gateway/wire/postgres/bytes.ts";
import { writeClient, type ClientMessage } from "@gateway/wire/postgres/client.ts";
import { FrameReader, type Frame, type FrameRun } from "@gateway/wire/postgres/frame.ts";
import type { TransactionStatus } from "@gateway/wire/postgres/message.ts";
import {
  rowFits,
  serverCopyData,
  serverRow,
  serverTypes,
  type ServerMessage,
  type ServerReport,
} from "@gateway/wire/postgres/server.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Waiter } from "@gateway/core/query/asked.ts";
import type { KeptListener } from "@gateway/core/query/pin.ts";
import { giveBack, share } from "@gateway/core/tool/socket/lent.ts";
import { drained } from "../../connect/drained.ts";
import { atRest } from "../../connect/plainSocket.ts";
import { lentBytes } from "../../connect/readBuffer.ts";
import { turnWrites } from "../../connect/turn.ts";
import { errorOf } from "../errors.ts";
import { readMessage } from "./descriptions.ts";
import { PreparedTexts } from "./prepared.ts";
import { Encoding, readsAsWritten } from "./reading.ts";
import type { Server } from "./reach.ts";
import { toldOf } from "./told.ts";
import { readWhole, type Whole } from "./whole.ts";

/** When so many bytes wait for their reader, the connection is read no further. */
const heldBytesMax = 256 * 1024;
/** Rows handed over at once take about this much: as much as is read at once. */
const runBytesMax = 1024 * 1024;
/** Longest row, and longest message of any other kind. Memory grows with what arrived, not with what was said. */
const rowBytesMax = 256 * 1024 * 1024;
const otherBytesMax = 16 * 1024 * 1024;
const otherLimits: ReadonlyMap<number, number> = new Map(
  [...serverTypes]
    .filter((type) => type !== serverRow && type !== serverCopyData)
    .map((type) => [type, otherBytesMax]),
);
/** A server reports some fifteen settings, and extensions a few. */
const statusesMax = 256;
const scratch = new Scratch((bytes) => Buffer.allocUnsafe(bytes));
const readyForQuery = 0x5a;
const notificationResponse = 0x41;
const copyRun = { bytesMax: runBytesMax, fits: () => true };
const lending = { share, giveBack };
const rule = { types: serverTypes, maxBytes: rowBytesMax, typeMaxBytes: otherLimits };

/** Rows, or one message. */
export type Piece =
  | { readonly kind: "rows"; readonly run: FrameRun }
  | Exclude<ServerMessage, { kind: "parameterStatus" } | { kind: "notification" }>;

export class Member {
  readonly server: Server;
  /** The number by which the client of the session that ran here last knows that session. */
  session: number | undefined;
  /** Connections of the same cluster by the server's numbers of their processes. */
  peers: ReadonlyMap<number, Member> | undefined;
  /** The server's own values, as it reports them. */
  readonly statuses = new Map<string, string>();
  /** For cancel requests; undefined where the server gave none. */
  key: { readonly process: number; readonly secret: Uint8Array } | undefined;
  status: TransactionStatus = "I";
  /** Settings of sessions that were set here; undefined: nobody knows what a name has now. */
  readonly settings = new Map<string, string | undefined>();
  /** The statement limit that was set here, in milliseconds; undefined is what it began with. */
  limitMs: number | "unknown" | undefined;
  /** Something may be left on it that the next session must not meet: it is cleaned before it is used again. */
  used = false;
  /** It is closed instead of being used again. */
  tainted = false;
  /** Its settings are its session's own affair. */
  settled = false;
  /** What its sequences gave last, they gave to its session now, and maybe to one before. */
  sequences: { readonly own: boolean; readonly others: boolean } = { own: false, others: false };
  readonly encoding = new Encoding();
  /** What it keeps prepared. */
  readonly prepared = new PreparedTexts();
  readonly #stream: Duplex;
  readonly #frames = new FrameReader(lending);
  readonly #out = new ByteWriter(scratch);
  #waiter: Waiter | undefined;
  #broken: string | undefined;
  #farewell: ServerReport | undefined;
  #asked = false;
  #behind = 0;
  #listener: KeptListener | undefined;
  #hearing = false;
  #greeted = false;
  #wasLarge = false;
  /** What ran on it changed how the server reads texts: it was closed for that. */
  readsOtherwise = false;

  constructor(stream: Duplex, server: Server) {
    this.server = server;
    this.#stream = stream;
    stream.on("data", (bytes: Buffer) => this.#take(bytes));
    stream.on("close", () => {
      this.#awake();
      this.#listener?.over(this.farewell);
    });
    stream.on("end", () => this.#awake());
    stream.on("error", () => this.#awake());
    // An idle connection reads, so that its end is seen.
    stream.resume();
  }

  /** Tells when the connection is over. */
  whenClosed(tell: () => void): void {
    if (this.#stream.closed) tell();
    else this.#stream.once("close", tell);
  }

  get open(): boolean {
    return this.#broken === undefined && !this.#stream.destroyed && this.#stream.readable;
  }

  /** Why nothing more comes, for operators. */
  get broken(): string {
    return this.#broken ?? "the connection ended";
  }

  /** Why the server ended it of its own accord, while it was heard. */
  get farewell(): GatewayError | undefined {
    return this.#farewell && errorOf(this.#farewell, { sql: "", prefix: 0 });
  }

  /** An idle connection has nothing to say: bytes that nobody asked for are a lie, or its end. */
  get quiet(): boolean {
    return this.#frames.pending === 0;
  }

  /** Tells what the server says of its own accord, also while nothing is asked of it. Else that is passed over. */
  hear(listener: KeptListener | undefined): void {
    this.#listener = listener;
    if (listener !== undefined && !this.#asked) void this.#hearIdle(listener);
  }

  /** Gathers messages until `flush`. */
  put(message: ClientMessage): void {
    this.#out.charset = this.encoding.charset;
    writeClient(this.#out, message);
  }

  flush(): void {
    this.#asked = true;
    this.write(this.#out.take());
  }

  /** What is flushed next comes behind whatever the server has not answered yet. */
  sendBehind(): void {
    if (this.#asked) this.#behind += 1;
  }

  /** Bytes that are whole messages already. */
  write(bytes: Uint8Array): void {
    if (bytes.length > 0 && !this.#stream.destroyed) turnWrites.write(this.#stream, bytes);
  }

  /** The next message; undefined when the connection is over. A row is an error here. */
  message(): Promise<Exclude<Piece, { kind: "rows" }> | undefined> {
    return this.#next(undefined) as Promise<Exclude<Piece, { kind: "rows" }> | undefined>;
  }

  /** The same, or the next rows where `columns` says of how many cells, if it is here: `waits` until `more` came. */
  here(columns: number | undefined): Piece | "waits" | undefined {
    for (;;) {
      const rows = columns === undefined ? undefined : this.held(columns);
      if (rows !== undefined) return { kind: "rows", run: rows };
      if (this.#broken !== undefined) return undefined;
      const step = this.#frames.next(rule);
      switch (step.kind) {
        case "frame": {
          const read = this.#read(step.frame);
          if (read === undefined) return undefined;
          if (read.kind === "notification") void this.#listener?.message(toldOf(step.frame, this));
          else if (read.kind !== "parameterStatus") return read;
          break;
        }
        case "wait":
          return this.open ? "waits" : undefined;
        case "long":
        case "skipped":
        case "violation":
          this.#break("a message that is none");
          return undefined;
      }
    }
  }

  /** The answer to what was sent, where all of it and nothing else is here. Takes nothing otherwise. */
  whole(simple: boolean): Whole | undefined {
    if (this.#listener !== undefined || this.encoding.charset !== undefined) return undefined;
    if (!readsAsWritten(this.statuses)) return undefined;
    const whole = readWhole(this.#frames.held, simple);
    if (whole === undefined) return undefined;
    this.#frames.drop();
    this.status = whole.status;
    this.#asked = false;
    return whole;
  }

  /** Resolves when more came, or the connection is over. */
  more(): Promise<void> {
    return new Promise<void>((came) => this.wait({ came }));
  }

  /** The same for whoever needs no promise. */
  wait(waiter: Waiter): void {
    this.#waiter = waiter;
    if (this.#stream.isPaused()) this.#stream.resume();
  }

  /** The next rows, each of exactly `columns` cells, or the next message. */
  piece(columns: number): Promise<Piece | undefined> {
    return this.#next(columns);
  }

  /** Rows that are here already; undefined where something else comes next, or nothing yet. */
  held(columns: number): FrameRun | undefined {
    const run = this.#frames.run(serverRow, rowBytesMax, {
      bytesMax: runBytesMax,
      fits: (bytes, start, end) => rowFits(bytes, start, end, columns),
    });
    if (run?.sound === false) this.#break("a row that is none");
    return run?.sound === false ? undefined : run;
  }

  /** Data of a COPY that is here already; undefined where something else comes next, or nothing yet. */
  copied(): FrameRun | undefined {
    return this.#frames.run(serverCopyData, rowBytesMax, copyRun);
  }

  /** The next data of a COPY, or the next message. */
  async copyPiece(): Promise<Piece | undefined> {
    for (;;) {
      const run = this.copied();
      if (run !== undefined) return { kind: "rows", run };
      if (this.#frames.peek() !== undefined && this.#frames.peek() !== serverCopyData)
        return await this.#next(undefined);
      if (!this.open) return undefined;
      await this.more();
    }
  }

  /** Resolves when what was written has left, or the connection ended. */
  sent(): Promise<void> {
    return drained(this.#stream);
  }

  /** The next message of any kind, for whoever only waits for the end. Rows and what makes no sense are passed over. */
  async skipped(): Promise<{ readonly kind: string } | undefined> {
    for (;;) {
      if (this.#broken !== undefined) return undefined;
      const step = this.#frames.next(rule);
      switch (step.kind) {
        case "frame":
          if (step.frame.type === notificationResponse)
            void this.#listener?.message(toldOf(step.frame, this));
          return this.#readyIn(step.frame) ? { kind: "ready" } : { kind: "other" };
        case "long":
          this.#frames.skipLong(step);
          break;
        case "skipped":
          return { kind: "other" };
        case "wait":
          if (!this.open) return undefined;
          await this.more();
          break;
        case "violation":
          this.#break("a message that is none");
          return undefined;
      }
    }
  }

  /** The server has not said yet that it is ready for the next statement. */
  get busy(): boolean {
    return this.#asked;
  }

  /** Gives up what was set: nobody knows what a rollback left of it. */
  forgetSettings(): void {
    for (const name of this.settings.keys()) this.settings.set(name, undefined);
    if (this.limitMs !== undefined) this.limitMs = "unknown";
  }

  /** Says goodbye and closes. */
  destroy(): void {
    this.tainted = true;
    if (!this.#stream.destroyed && this.#stream.writable && this.status === "I") {
      this.put({ kind: "terminate" });
      this.flush();
    }
    turnWrites.leave();
    this.#out.take();
    this.#stream.destroy();
    this.#awake();
  }

  async #next(columns: number | undefined): Promise<Piece | undefined> {
    for (;;) {
      const piece = this.here(columns);
      if (piece !== "waits") return piece;
      await this.more();
    }
  }

  /** Reads what comes while nothing is asked. Its listener's turn is waited for, and with it the server. */
  async #hearIdle(listener: KeptListener): Promise<void> {
    if (this.#hearing) return;
    this.#hearing = true;
    try {
      while (!this.#asked && this.#broken === undefined && this.#listener === listener) {
        const step = this.#frames.next(rule);
        if (step.kind === "wait") return void this.#stream.resume();
        const read = step.kind === "frame" ? this.#read(step.frame) : undefined;
        if (step.kind === "frame" && (read?.kind === "notification" || read?.kind === "notice"))
          await listener.message(toldOf(step.frame, this));
        else if (read?.kind === "error") {
          this.#farewell = read.report;
          this.#break("the server ended it");
        } else if (read?.kind !== "parameterStatus") this.#break("a message that nobody asked for");
      }
    } finally {
      this.#hearing = false;
    }
  }

  #hearNow(listener: KeptListener): void {
    void this.#hearIdle(listener);
    if (this.#frames.pending >= heldBytesMax) this.#stream.pause();
  }

  #readyIn(frame: Frame): boolean {
    return frame.type === readyForQuery && this.#read(frame)?.kind === "ready";
  }

  #read(frame: Frame): ServerMessage | undefined {
    const message = readMessage(frame, this.encoding.charset);
    switch (message?.kind) {
      case undefined:
        this.#break(`an unexpected message ${String.fromCharCode(frame.type)}`);
        return undefined;
      case "parameterStatus":
        if (this.statuses.size >= statusesMax && !this.statuses.has(message.name)) {
          this.#break("more settings than a server reports");
          return undefined;
        }
        this.statuses.set(message.name, message.value);
        if (message.name === "client_encoding") this.encoding.follow(message.value);
        // Where prepared statements are shared, it tells whose runs.
        if (!this.prepared.tags || message.name !== "application_name")
          this.#listener?.status(message.name, message.value);
        return message;
      case "ready":
        // The login looks at the first one itself.
        if (this.#greeted && !readsAsWritten(this.statuses)) {
          this.readsOtherwise = true;
          this.#break("it reads texts in another way");
          return undefined;
        }
        this.#greeted = true;
        this.status = message.status;
        this.#asked = this.#behind > 0;
        if (this.#asked) this.#behind -= 1;
        if (this.#wasLarge) atRest(this.#stream);
        this.#wasLarge = false;
        // What follows in the same bytes would wait for the next.
        if (this.#listener !== undefined) void this.#hearIdle(this.#listener);
        return message;
      default:
        return message;
    }
  }

  #break(why: string): void {
    this.#broken ??= why;
    this.tainted = true;
    this.#stream.destroy();
  }

  #awake(): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.came();
  }

  #take(bytes: Buffer): void {
    this.#frames.push(bytes);
    if (bytes.length >= lentBytes) this.#wasLarge = true;
    if (this.#waiter !== undefined) this.#awake();
    else if (this.#listener !== undefined && !this.#asked) this.#hearNow(this.#listener);
    else if (this.#frames.pending >= heldBytesMax) this.#stream.pause();
  }
}
