/** Threads of the process, by the name of their program. The host knows where the bundle lies. */
export interface Threads {
  start(name: "adbc" | "catalogMirror" | "hash" | "judge" | "pglite", data: unknown): Thread;
  /**
   * Starts a process of its own that is spoken with like a thread, except that buffers are copied and
   * that `terminate` ends it whatever it does. It has nothing of our environment and ends with us.
   * Absent on a host without processes.
   */
  readonly spawn?: (name: "adbc", data: unknown) => Thread;
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
