/** Threads of the process, by the name of their program. The host knows where the bundle lies. */
export interface Threads {
  start(
    name: "adbc" | "catalogMirror" | "hash" | "judge" | "pglite" | "script" | "sql",
    data: unknown,
  ): Thread;
  /**
   * Starts a child process, with a socket to it for each pair of `lines`, and `memory`, a descriptor that stays ours, behind
   * them. It inherits nothing of our environment and ends with us. Absent on a host without processes.
   */
  readonly spawn?: (name: "adbc", lines: readonly SocketPair[], memory?: number) => ChildProcess;
}

/** One running thread. Messages keep their order. */
export interface Thread {
  /** Sends a message; `transfer` moves the listed buffers instead of copying them. */
  post(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Called for every message of the thread. Set once, right after the start. */
  onMessage(handle: (message: unknown) => void): void;
  /** Called once when the thread is gone, with the error that ended it, if any. */
  onExit(handle: (error: unknown) => void): void;
  /** Whether the thread keeps the process alive. */
  ref(on: boolean): void;
  /** Ends the thread as soon as it is not inside a native call. */
  terminate(): Promise<void>;
}

/** Descriptors of two sockets that are connected with each other. The host takes both over. */
export interface SocketPair {
  readonly ours: number;
  readonly theirs: number;
}

/** A child process: messages carry what is rare, lines carry what is not. */
export interface ChildProcess {
  /** Opens our end of a line, by the index of its pair; once for each. */
  line(index: number, reader: LineReader): Line;
  post(message: unknown): void;
  /** Called for every message of the process. Set once, right after the start. */
  onMessage(handle: (message: unknown) => void): void;
  /** Called once when the process is gone. What it had written to its lines may still be on its way. */
  onExit(handle: (end: ProcessEnd) => void): void;
  /** Ends it at once, whatever it does. */
  kill(): void;
}

/** How a process ended. */
export interface ProcessEnd {
  /** `exit code 134`, `signal SIGSEGV`, or why it could not be started. */
  readonly how: string;
  /** The last of what it wrote to its standard error; for the operator only. */
  readonly lastWords: string;
}

/** Our end of a socket to a process. Bytes keep their order. */
export interface Line {
  write(bytes: Uint8Array): void;
  /** Reads on after the reader had enough. */
  resume(): void;
  /** Whether the line keeps our process alive. */
  ref(on: boolean): void;
}

/** Says where bytes go before they arrive, so that nobody copies them. */
export interface LineReader {
  /** Where the next bytes are put; never empty. Asked for after each `take`. */
  place(): Uint8Array;
  /** That many bytes were put there. Returning false stops reading until `resume`. */
  take(bytes: number): boolean;
  /** Nothing more will come. */
  end(): void;
}
