/**
 * A process that calls a driver, seen from outside: its lines, each to a thread there, and its end.
 *
 * A native library that crashes, hangs or eats the memory of the machine takes this process with it and
 * nothing else. One process may serve many connections, because an embedded database is one object for
 * all of them: they end together then, and each learns why.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { ChildProcess, ProcessEnd, Threads } from "@gateway/core/port/threads.ts";
import { LineReach, ProcessLine, type LineKeeper } from "./lineReach.ts";
import type { DriverLibrary, ProcessMessage, ProcessReport } from "../message.ts";
import { socketPair } from "../memory/native.ts";
import { SharedMemory } from "../memory/sharedBlocks.ts";
import type { Reach } from "./reach.ts";

/**
 * A process is pinged this often while somebody waits for it. It ends by itself when the pings stop: what
 * runs there must not outlive a frozen gateway, whose slots others get.
 */
const pingMs = 2_000;
/** A process that leaves so many pings in a row unanswered hangs. */
const pingsMissedMax = 5;

/** How long a process that hangs lives on, so that the others in it get their answers. Milliseconds. */
const neighboursMs = 10_000;
/**
 * A process is full after so many seats. It never gives a number twice, so that nothing late reaches
 * another's connection.
 */
const seatsMax = 4_096;

const overgrown: ProcessReport = "overgrown";

/** How much a process may be. */
export interface ChildLimits {
  /** Most requests at once; more wait. As many seats may be taken at a time. */
  readonly lines: number;
  /** Resident bytes beyond which it is ended; absent: as many as there are. */
  readonly memoryMax?: number | undefined;
}

export class DriverProcess {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #lines: readonly ProcessLine[];
  readonly #free: ProcessLine[];
  /** Who waits for a free line, first come first. */
  readonly #waiting = new Set<(line: ProcessLine | undefined) => void>();
  readonly #onEnd: ((end: ProcessEnd) => void)[] = [];
  #end: ProcessEnd | undefined;
  /** Why it was ended from here. */
  #killed: string | undefined;
  /** Requests that wait for an answer. */
  #working = 0;
  #watch: Disposable | undefined;
  #pingsMissed = 0;
  #pinged = false;
  readonly #seats = new Set<LineReach>();
  #seatsGiven = 0;
  /** Seats whose driver ignored a cancel. */
  readonly #hanging = new Set<LineReach>();
  /** Set when it takes nobody new and ends once only the hanging requests have no answer. */
  #doom: Disposable | undefined;

  /** Throws on a host without processes. */
  constructor({ spawn }: Threads, clock: Clock, library: DriverLibrary, limits: ChildLimits) {
    const { lines, memoryMax } = limits;
    if (spawn === undefined) throw new Error("this host starts no processes");
    this.#clock = clock;
    const pairs = Array.from({ length: lines }, socketPair);
    const memory = SharedMemory.of(lines);
    this.#child = spawn("adbc", pairs, memory?.descriptor);
    this.#child.onExit(({ how, lastWords }) => {
      this.#ended({ how: this.#killed ?? withWords(how, lastWords), lastWords: "" });
    });
    this.#child.onMessage((report) => {
      this.#pingsMissed = 0;
      if (report === overgrown) this.kill("it took more memory than it may");
    });
    const sharedLines = memory === undefined ? undefined : lines;
    this.#say({
      kind: "start",
      library,
      memoryMax,
      seats: Math.max(seatsMax, lines),
      sharedLines,
    });
    const distrust = (): void => this.kill("it wrote what can not be read");
    this.#lines = pairs.map((_, at) => new ProcessLine(this.#child, at, distrust, memory));
    this.#free = [...this.#lines].toReversed();
  }

  /** False once the process has ended. */
  get alive(): boolean {
    return this.#end === undefined;
  }

  /** Called once when the process has ended, after everybody who asked it something was told. */
  onEnd(handle: (end: ProcessEnd) => void): void {
    this.#onEnd.push(handle);
  }

  /** A way into the process: a line of its own, once one is free. */
  reach(): Reach {
    return new LineReach(
      this.#keeper({
        kill: () => this.kill(didNotEnd),
        busy: (on) => this.#busy(on),
        left: async () => {},
      }),
    );
  }

  /** How many are taken. */
  get seats(): number {
    return this.#seats.size;
  }

  /** True when one more can have a seat. */
  get hasRoom(): boolean {
    const taken = this.#seats.size;
    return this.#open && taken < this.#lines.length && this.#seatsGiven < seatsMax;
  }

  /**
   * A seat, which keeps its connection and has a line only during a request. A process of seats ends with
   * its last one. One that hangs does not take the others' requests with it.
   */
  seat(): Reach {
    const seat = this.#seatsGiven;
    this.#seatsGiven += 1;
    const reach: LineReach = new LineReach(
      this.#keeper({
        kill: () => this.#endBehindOthers(reach),
        busy: (on) => {
          if (!on) this.#hanging.delete(reach);
          this.#busy(on);
          this.#endIfOnlyHanging();
        },
        left: () => this.#leftBy(reach),
      }),
      seat,
    );
    this.#seats.add(reach);
    return reach;
  }

  get #open(): boolean {
    return this.alive && this.#doom === undefined && this.#killed === undefined;
  }

  #keeper(own: Pick<LineKeeper, "kill" | "busy" | "left">): LineKeeper {
    const isOpen = (): boolean => this.#open;
    const ended = (): ProcessEnd | undefined => this.#end;
    return {
      ...own,
      take: (got) => this.#take(got),
      notWanted: (got) => void this.#waiting.delete(got),
      giveBack: (line) => this.#giveBack(line),
      get open() {
        return isOpen();
      },
      get end() {
        return ended();
      },
    };
  }

  async #leftBy(reach: LineReach): Promise<void> {
    this.#seats.delete(reach);
    if (this.#seats.size > 0 || !this.alive) return;
    const ended = new Promise<void>((resolve) => this.onEnd(() => resolve()));
    this.kill("nobody uses it");
    await ended;
  }

  #endBehindOthers(reach: LineReach): void {
    this.#hanging.add(reach);
    this.#doom ??= this.#clock.timer(neighboursMs, () => this.kill(didNotEnd));
    this.#endIfOnlyHanging();
  }

  #endIfOnlyHanging(): void {
    if (this.#doom !== undefined && this.#working <= this.#hanging.size) this.kill(didNotEnd);
  }

  /** Ends it at once; what was asked of it is answered with that. The reason is for the operator. */
  kill(reason: string): void {
    this.#killed ??= reason;
    this.#child.kill();
  }

  #take(got: (line: ProcessLine | undefined) => void): void {
    const line = this.#free.pop();
    if (line === undefined) this.#waiting.add(got);
    else got(line);
  }

  #giveBack(line: ProcessLine): void {
    const [next] = this.#waiting;
    if (next === undefined) return void this.#free.push(line);
    this.#waiting.delete(next);
    next(line);
  }

  #ended(end: ProcessEnd): void {
    this.#end = end;
    this.#watch?.[Symbol.dispose]();
    this.#doom?.[Symbol.dispose]();
    for (const line of this.#lines) line.processEnded(end);
    for (const reach of this.#seats) reach.processEnded(end);
    for (const got of this.#waiting) got(undefined);
    this.#waiting.clear();
    for (const handle of this.#onEnd) handle(end);
  }

  /** A process that hangs is noticed while somebody waits for it. Short statements cost no question. */
  #busy(on: boolean): void {
    this.#working += on ? 1 : -1;
    if (this.#working > 0) {
      this.#watch ??= this.#nextPing();
      return;
    }
    this.#watch?.[Symbol.dispose]();
    this.#watch = undefined;
    if (this.#pinged) this.#say({ kind: "idle" });
    this.#pinged = false;
    this.#pingsMissed = 0;
  }

  #nextPing(): Disposable {
    return this.#clock.timer(pingMs, () => {
      if (!this.alive) return;
      if (this.#pingsMissed >= pingsMissedMax) return this.kill("it did not answer");
      this.#pingsMissed += 1;
      this.#pinged = true;
      this.#say({ kind: "ping" });
      this.#watch = this.#nextPing();
    });
  }

  #say(message: ProcessMessage): void {
    this.#child.post(message);
  }
}

const didNotEnd = "it did not end what was cancelled";

/** What C libraries say before they abort. Anything else may hold a value of a statement and is not shown. */
const knownWords =
  /^(?:(?:free|malloc|realloc|munmap_chunk|malloc_consolidate)\(\): [a-z _()]+|double free or corruption[a-z ()!]*|corrupted [a-z ._-]+|terminate called after throwing an instance of '[\w:<>]+'|FATAL ERROR: [\w ]+)/m;

function withWords(how: string, lastWords: string): string {
  const words = knownWords.exec(lastWords)?.[0];
  return words === undefined ? how : `${how}, ${words}`;
}
