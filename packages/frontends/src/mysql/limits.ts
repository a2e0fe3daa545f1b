/** Limits of what can grow on this wire and has no field in the config. */

/** Longest payload before the login is done: a response with all its attributes is far shorter. */
export const handshakeBytesMax = 64 * 1024;

/** The output buffer is sent once it holds so many bytes; until then rows are gathered. */
export const flushBytes = 128 * 1024;

/** Bytes of commands that may wait while one runs. Beyond it nothing more is read from the client. */
export const pipelinedBytesMax = 256 * 1024;

/** Statements of one text. */
export const statementsPerTextMax = 1000;

/** Prepared statements of one connection. */
export const preparedMax = 4096;

/** Texts whose reading is remembered: so many that came last, and as many from before them. */
export const rememberedTexts = 256;

/** Characters of the longest text whose reading is remembered: a longer one, a bulk insert, comes once. */
export const rememberedLengthMax = 2048;
