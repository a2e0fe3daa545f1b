/** What one call of a Python script may take. Times are milliseconds. */

/** Told to the launcher, which sets them before a script runs. */
export const told = {
  /** Processor time of one call, with what the interpreter needs to begin it. */
  cpuMs: 100,
  /** Address space beyond what the interpreter has before. */
  memoryBytes: 64 * 1024 * 1024,
  /** Characters of an answer. */
  answerLength: 1_000_000,
} as const;

/** From the wish to the answer: one that waits for something takes no processor time. */
export const callMsMax = 1_000;
/** Bytes of what a script is given, as JSON. */
export const askedBytesMax = 4 * 1024 * 1024;
/** Bytes of an answer: one character may be twelve in JSON. */
export const answerBytesMax = 13 * 1024 * 1024;
/** An interpreter that is not ready by then is given up. */
export const startMsMax = 30_000;
/** Of what it says about itself. */
export const saidBytesMax = 64 * 1024;
