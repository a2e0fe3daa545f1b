/** Limits of this protocol that no config changes. */

/** The request line with all fields, and the headers. Longer texts travel in the body. */
export const headerBytesMax = 256 * 1024;
/** Rows that are held before the head of an answer goes out: a failure until then has a status of its own. */
export const heldBytesMax = 64 * 1024;
/** A piece of an answer that is written at once. */
export const pieceBytes = 256 * 1024;
/** What `wait_end_of_query` may hold. */
export const wholeBytesMax = 64 * 1024 * 1024;
/** The same of all answers together. */
export const wholeBytesOfAllMax = 512 * 1024 * 1024;
/** Bytes of unfinished statements of all connections together. */
export const pendingBytesMax = 256 * 1024 * 1024;
/** Sessions by `session_id`: of all clients, and of one user. */
export const sessionsMax = 20_000;
export const sessionsOfUserMax = 1_000;
/** Settings that one session remembers, and the longest value of one. */
export const settingsMax = 200;
export const settingLengthMax = 4_096;
/** Seconds of a session without a statement. */
export const sessionSecs = 60;
export const sessionSecsMax = 3_600;
/** Longest name that a client gives its query or session. */
export const nameLengthMax = 256;
/** Statements that run or wait under one user's names. */
export const runningOfUserMax = 10_000;
/** Milliseconds until the text of a statement is there whole. */
export const textMsMax = 60_000;
