/** Bounds of everything on this wire that can grow and is not in the config. */

/** Longest payload before the client is who it says: a response with all its attributes is far shorter. */
export const handshakeBytesMax = 64 * 1024;

/** Bytes in the output buffer after which it is sent: rows are gathered up to here. */
export const flushBytes = 128 * 1024;

/** Bytes of further commands held while one runs; beyond it nothing is read from the client. */
export const pipelinedBytesMax = 256 * 1024;

/** Statements of one text. */
export const statementsPerTextMax = 1000;

/** Prepared statements of one connection. */
export const preparedMax = 4096;

/** Texts of which is remembered what was read of them, and again as many that were asked for before. */
export const rememberedTexts = 256;

/** Characters of the longest of them: a bulk insert comes once. */
export const rememberedLengthMax = 2048;
