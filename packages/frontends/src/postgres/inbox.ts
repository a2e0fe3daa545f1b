/**
 * What a client sent and nobody has answered yet: a bounded queue of bytes, read as frames.
 *
 * The socket is read even while a statement runs, because only reading shows that a client left. Reading
 * pauses once a whole message is certain to wait.
 */
import {
  FrameReader,
  type Frame,
  type FrameRule,
  type FrameStep,
} from "@gateway/wire/postgres/frame.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import type { OwedTime } from "./owed.ts";
import type { Lookahead, SeriesParts } from "./run/series.ts";

/** So much may wait beside a message of the largest size. While more waits, a client's leave is noticed late. */
const readAheadBytes = 64 * 1024;

/** Sync ends a series; a Close in between changes nothing. */
const syncType = 0x53;
const closeType = 0x43;
const bindType = 0x42;
const flushType = 0x48;
/** CopyData, CopyDone, CopyFail, and what may stand between them. */
const copyTypes: ReadonlySet<number> = new Set([0x64, 0x63, 0x66, syncType, flushType]);

export class Inbox {
  readonly #connection: FollowedConnection;
  readonly #maxBytes: () => number;
  readonly #reader = new FrameReader();
  #wake: (() => void) | undefined;
  #paused = false;

  /** `maxBytes` tells the length of the longest message that may come now. */
  constructor(connection: FollowedConnection, maxBytes: () => number) {
    this.#connection = connection;
    this.#maxBytes = maxBytes;
    this.listen();
  }

  /** Reads the connection's socket, which TLS replaces. */
  listen(): void {
    this.#connection.socket.on("data", (chunk: Buffer) => {
      this.#reader.push(chunk);
      // At least one whole message is here: the client has to wait for its answer.
      if (this.#reader.pending > this.#maxBytes() + readAheadBytes) {
        this.#paused = true;
        this.#connection.socket.pause();
      }
      this.#wake?.();
    });
  }

  /** Ends the wait for more: the client is gone. */
  wake(): void {
    this.#wake?.();
  }

  get pending(): number {
    return this.#reader.pending;
  }

  /** The first byte that nobody took yet. */
  peek(): number | undefined {
    return this.#reader.peek();
  }

  /** A whole message waits to be taken. */
  get whole(): boolean {
    return this.#reader.hasFrame;
  }

  /** The type of the message that comes next, where it has no place in a COPY. */
  other(): number | undefined {
    const type = this.#reader.peek();
    return type !== undefined && copyTypes.has(type) ? undefined : type;
  }

  next(rule: FrameRule): FrameStep {
    return this.#reader.next(rule);
  }

  /** A long message is to be taken or skipped. While `decision` is open nothing more is read. */
  async decide(
    long: Extract<FrameStep, { kind: "long" }>,
    decision: boolean | Promise<boolean>,
  ): Promise<boolean> {
    if (decision instanceof Promise && !this.#paused) {
      this.#paused = true;
      this.#connection.socket.pause();
    }
    const taken = await decision;
    if (taken) this.#reader.allowLong();
    else this.#reader.skipLong(long);
    return taken;
  }

  /** Takes everything that is left, for the TLS handshake. */
  rest(): Uint8Array {
    return this.#reader.rest();
  }

  /** Resolves when more has come or the client is gone. */
  more(): Promise<void> {
    if (this.#paused) {
      this.#paused = false;
      this.#connection.socket.resume();
    }
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#connection.over) resolve();
    });
  }

  /** What follows the message that is answered now. Waits for it: the client still owes a Sync or a Flush. */
  ahead(): Lookahead | Promise<Lookahead> {
    return this.#reader.ahead(endsAhead) ?? this.#waitAhead();
  }

  /** True when the next message is a Bind, or the client left. Waits for it, as `ahead` does. */
  bound(): boolean | Promise<boolean> {
    return this.#reader.ahead(isBind) ?? this.#waitBound();
  }

  /**
   * The next message of a client that sends the data of a COPY; undefined when `stopped` says so, or the client is
   * gone. Flush and Sync mean nothing in between. Any other message ends the data: it is left where it is.
   */
  async copyFrame(rule: FrameRule, stopped: () => boolean): Promise<Frame | undefined> {
    for (;;) {
      if (stopped() || this.#connection.over) return undefined;
      const type = this.#reader.peek();
      if (type !== undefined && !copyTypes.has(type)) return undefined;
      const step = this.#reader.next(rule);
      if (step.kind === "violation" || step.kind === "skipped" || step.kind === "long")
        return undefined;
      if (step.kind === "wait") await this.more();
      else if (step.frame.type !== syncType && step.frame.type !== flushType) return step.frame;
    }
  }

  async #waitBound(): Promise<boolean> {
    for (;;) {
      const found = this.#reader.ahead(isBind);
      if (found !== undefined || this.#connection.over) return found ?? true;
      await this.more();
    }
  }

  async #waitAhead(): Promise<Lookahead> {
    for (;;) {
      const found = this.#reader.ahead(endsAhead);
      if (found !== undefined) return found;
      if (this.#connection.over) return "gone";
      // The message ahead is larger than what may wait: it is no Sync.
      if (this.#paused && this.#reader.pending > this.#maxBytes()) return "more";
      await this.more();
    }
  }
}

function isBind(type: number): boolean {
  return type === bindType;
}

/** What a message of this type says about the rest of the series; undefined when the next one tells. */
function endsAhead(type: number): "sync" | "more" | undefined {
  if (type === closeType) return undefined;
  return type === syncType ? "sync" : "more";
}

interface DeskLook {
  readonly owed: OwedTime;
  readonly rule: () => FrameRule;
  readonly lose: () => void;
}

/** What of it whoever answers the messages may ask. `owed` counts how long its client keeps it waiting. */
export function deskInbox(inbox: Inbox, { owed, rule, lose }: DeskLook): SeriesParts["inbox"] {
  return {
    ahead: () => inbox.ahead(),
    whole: () => inbox.whole,
    bound: () => owed.counted(inbox.bound()),
    copyFrame: (stopped) => inbox.copyFrame(rule(), stopped),
    other: () => inbox.other(),
    lose,
    wake: () => inbox.wake(),
  };
}
