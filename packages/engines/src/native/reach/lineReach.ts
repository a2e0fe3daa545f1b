/**
 * A driver's thread in another process, as whoever calls it sees it. Who owns which line is decided in
 * driverProcess.ts; what the bytes mean in frames.ts.
 */
import type { ChildProcess, Line, ProcessEnd } from "@gateway/core/port/threads.ts";
import { err } from "@gateway/core/result.ts";
import { nextTurn } from "../memory/control.ts";
import { failureOf } from "../driver.ts";
import { FrameReader, requestFrame, returnFrame } from "../frames.ts";
import { ReadableBlocks, type SharedMemory } from "../memory/sharedBlocks.ts";
import type { ProcessMessage, Request, ThreadMessage } from "../message.ts";
import type { Reach, ReachEnd } from "./reach.ts";

/** Who uses a line at the moment. */
interface LineOwner {
  /** False when no more is wanted before `resume`. */
  received(messages: readonly ThreadMessage[]): boolean;
  ended(end: ProcessEnd): void;
}

/** One line of a process, and the thread at its other end. Its owners come and go. */
export class ProcessLine {
  readonly #child: ChildProcess;
  readonly #index: number;
  /** Ends a process that says what nobody can read. */
  readonly #distrust: () => void;
  readonly #blocks: ReadableBlocks | undefined;
  #line: Line | undefined;
  #owner: LineOwner | undefined;
  #turn = 0;
  #paused = false;
  #closed = false;
  #end: ProcessEnd | undefined;

  /** `memory`: of the process, where it has some. */
  constructor(
    child: ChildProcess,
    index: number,
    distrust: () => void,
    memory: SharedMemory | undefined,
  ) {
    this.#child = child;
    this.#index = index;
    this.#distrust = distrust;
    const giveBack = (block: number): void => this.#line?.write(returnFrame(block));
    this.#blocks = memory && new ReadableBlocks(memory, index, giveBack);
  }

  /** The thread is started for the first owner. */
  own(owner: LineOwner): void {
    this.#owner = owner;
    this.#line ??= this.#open();
  }

  disown(): void {
    this.#owner = undefined;
  }

  /** `seat`: whose connection it is about; the line's own where nobody says. */
  send(request: Request, seat = this.#index): void {
    this.#turn = nextTurn(this.#turn);
    this.resume();
    this.#line?.write(requestFrame({ turn: this.#turn, seat, request }));
  }

  cancel(): void {
    this.#say({ kind: "cancel", line: this.#index, turn: this.#turn });
    this.resume();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#line?.resume();
  }

  ref(on: boolean): void {
    this.#line?.ref(on);
  }

  /** What was written before the end is read first. */
  processEnded(end: ProcessEnd): void {
    this.#end = end;
    this.resume();
    this.#tellEnd();
  }

  #open(): Line {
    const reader = new FrameReader(
      (messages) => this.#received(messages),
      () => {
        this.#closed = true;
        this.#tellEnd();
      },
      this.#blocks,
    );
    const line = this.#child.line(this.#index, {
      place: () => reader.place(),
      take: (bytes) => this.#trusted(() => reader.take(bytes)),
      end: () => reader.end(),
    });
    this.#say({ kind: "open", line: this.#index });
    return line;
  }

  #received(messages: readonly ThreadMessage[]): boolean {
    // Nobody asked a line without an owner.
    this.#paused = this.#owner?.received(messages) === false;
    return !this.#paused;
  }

  #trusted(read: () => boolean): boolean {
    try {
      return read();
    } catch {
      this.#distrust();
      return true;
    }
  }

  #tellEnd(): void {
    if (this.#end === undefined || (this.#line !== undefined && !this.#closed)) return;
    this.#blocks?.close();
    this.#owner?.ended(this.#end);
  }

  #say(message: ProcessMessage): void {
    this.#child.post(message);
  }
}

type GotLine = (line: ProcessLine | undefined) => void;

/** What a process does for those who call its driver. */
export interface LineKeeper {
  /** Calls back with a free line, now or later; without one when the process has ended. */
  take(got: GotLine): void;
  notWanted(got: GotLine): void;
  giveBack(line: ProcessLine): void;
  kill(): void;
  /** Told whenever somebody begins or ends to wait for an answer. */
  busy(on: boolean): void;
  /** Called when it is given up; settled when what ends with it has ended. */
  left(): Promise<void>;
  /** False when the process has ended, or is about to. */
  readonly open: boolean;
  /** How the process ended, if it has. */
  readonly end: ProcessEnd | undefined;
}

const cancelled = err(failureOf("cancelled", "the statement was cancelled"));

/**
 * A way into a process. Without a seat it keeps one line for itself; with a seat it takes a line for each
 * request, so that a process needs only as many threads as work at a time.
 */
export class LineReach implements Reach {
  readonly #keeper: LineKeeper;
  readonly #seat: number | undefined;
  #line: ProcessLine | undefined;
  #handle: (messages: readonly ThreadMessage[]) => void = nothing;
  #onEnd: (end: ReachEnd) => void = nothing;
  /** Asked for before there was a line. */
  #queued: Request | undefined;
  #pending = false;
  #credits = 0;
  /** What comes is thrown away, so all of it is read. */
  #draining = false;
  #busy = false;
  #left = false;
  #told = false;

  constructor(keeper: LineKeeper, seat?: number) {
    this.#keeper = keeper;
    this.#seat = seat;
  }

  get alive(): boolean {
    return this.#keeper.open;
  }

  onMessages(handle: (messages: readonly ThreadMessage[]) => void): void {
    this.#handle = handle;
  }

  onEnd(handle: (end: ReachEnd) => void): void {
    this.#onEnd = handle;
    if (this.#keeper.end !== undefined) this.processEnded(this.#keeper.end);
    else if (this.#seat === undefined) this.#keeper.take(this.#got);
  }

  /** With a line of its own the line tells it, behind what was written before the end. */
  processEnded(end: ProcessEnd): void {
    if (this.#line === undefined) this.#ended(end);
  }

  post(request: Request, credits: number): void {
    this.#credits = credits;
    this.#draining = false;
    this.#pending = true;
    if (this.#line !== undefined) return this.#line.send(request, this.#seat);
    this.#queued = request;
    if (this.#seat !== undefined) this.#keeper.take(this.#got);
  }

  addCredit(): void {
    this.#credits += 1;
    if (this.#credits > 0) this.#line?.resume();
  }

  cancel(): void {
    this.#draining = true;
    if (this.#queued === undefined) return this.#line?.cancel();
    if (this.#seat !== undefined) this.#keeper.notWanted(this.#got);
    this.#queued = undefined;
    this.#pending = false;
    this.#handle([{ kind: "reply", reply: cancelled }]);
  }

  ref(on: boolean): void {
    this.#line?.ref(on);
    if (this.#busy === on) return;
    this.#busy = on;
    this.#keeper.busy(on);
  }

  async leave(): Promise<void> {
    this.#left = true;
    if (this.#pending) return;
    this.#giveUp();
    await this.#keeper.left();
  }

  kill(): void {
    this.#keeper.kill();
  }

  readonly #got: GotLine = (line) => {
    if (line === undefined) return this.#keeper.end && this.processEnded(this.#keeper.end);
    this.#line = line;
    line.own({
      received: (messages) => this.#received(messages),
      ended: (end) => this.#ended(end),
    });
    line.ref(this.#busy);
    const request = this.#queued;
    this.#queued = undefined;
    if (request !== undefined) line.send(request, this.#seat);
  };

  #received(messages: readonly ThreadMessage[]): boolean {
    for (const { kind } of messages) {
      if (kind === "batch" || kind === "tables") this.#credits -= 1;
      if (kind === "reply") this.#pending = false;
    }
    if (this.#seat !== undefined && !this.#pending) this.#giveUp();
    this.#handle(messages);
    if (this.#left && !this.#pending) void this.leave();
    return this.#draining || !this.#pending || this.#credits > 0;
  }

  #giveUp(): void {
    const line = this.#line;
    this.#line = undefined;
    if (line === undefined) return this.#keeper.notWanted(this.#got);
    line.disown();
    line.ref(false);
    this.#keeper.giveBack(line);
  }

  #ended({ how }: ProcessEnd): void {
    if (this.#told) return;
    this.#told = true;
    this.#onEnd({ crashed: true, reason: how });
  }
}

function nothing(): void {}
