/** Limits of the threads that parse SQL. */

/** UTF-16 units of a text. A list of 20,000 numbers has half of it and takes a third of a second. */
export const lengthMax = 262_144;

/** UTF-16 units up to which a text counts as short: such texts do not wait behind long ones. */
export const shortLengthMax = 8_192;

/** Time for one text, from the moment that its thread begins with it. */
export const workMsMax = 3_000;

/** Time in which a thread has to be ready; it loads 23 MB of WebAssembly. */
export const startMsMax = 30_000;

/** Texts that wait in one line. */
export const waitingMax = 1_000;

/** A thread with the parser takes some 80 MB, so it goes when nobody asked for that long. */
export const idleMsMax = 900_000;
