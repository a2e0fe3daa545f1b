/** Limits of the Flight SQL listener that no config changes. */

/** Calls of one connection at a time; a client waits with more. */
export const streamsMax = 100;
/** What HTTP/2 may hold for one connection, in bytes; new calls are refused beyond it. */
export const sessionBytesMax = 64 * 1024 * 1024;
/** Requests that are read at the same time, of all users and of one: each may take a message's memory. */
export const readersMax = 32;
export const readersOfUserMax = 8;
/** A request must be there after this long, from the moment on when it is read. */
export const requestMsMax = 60_000;
/** A client that takes nothing of its rows for so long is cut off. */
export const stalledMs = 300_000;
/** A client that polls is answered after so long at the latest. */
export const pollMs = 500;
/** A ticket that nobody redeems for so long ends its query. */
export const ticketLifeMs = 60_000;
/** The same once the connection is gone that the ticket was given to. */
export const orphanLifeMs = 1_000;
/** Results that wait for their client, of all users and of one. */
export const parkedMax = 10_000;
export const parkedOfUserMax = 1_000;
/** A token of a login works so long. Its credential is judged with each call. */
export const tokenLifeMs = 24 * 3_600_000;
/** A prepared statement that nobody uses for so long is forgotten. */
export const preparedLifeMs = 3_600_000;
/** Prepared statements, of all users and of one, and the bytes that they hold together. */
export const preparedMax = 10_000;
export const preparedOfUserMax = 1_000;
export const preparedBytesMax = 256 * 1024 * 1024;
/** A command without a statement's text is no longer. */
export const commandBytesMax = 64 * 1024;
/** What a statement's message holds beside its text. */
export const commandHeadBytes = 4 * 1024;
/** Options of a session, together with their names, in bytes: they travel in a cookie. */
export const optionBytesMax = 2_048;
/** A request's data frames: after so many, a lower average than this many bytes is an attack on memory. */
export const framesMin = 16_384;
export const frameBytesMin = 64;
/** A message of an answer that another gateway sends for its client: those of our own are of about a megabyte, unless one row is longer. */
export const carriedBytesMax = 256 * 1024 * 1024;
/** How often a call of another gateway's client is said to be alive while it has nothing to send. */
export const aliveMs = 60_000;
