/** What a Trino cluster may take of this process, and how long it may keep a statement waiting. */

/** Bytes of one answer, unpacked. Trino aims at 1 MB and sends single large rows whole. */
export const answerBytesMax = 256 * 1024 * 1024;
/** Without a byte for so long the server counts as stalled. It answers polls within a second. */
export const stallMs = 60_000;
/** Statements that talk to the server at the same moment; more wait. */
export const connectionsMax = 256;
/** Connections kept apart for cancelling, probes and listings, so that statements can not block them. */
export const controlConnectionsMax = 8;
export const connectTimeoutMs = 10_000;
/** How long a poll is repeated while the server, or a proxy before it, says that it can not answer now. */
export const retryMs = 60_000;
/** Attempts to submit a statement to a server that says it took none. */
export const submitAttemptsMax = 3;
/** Between two attempts: doubled from the first to the last. */
export const retryDelayMs = { first: 100, last: 2_000 } as const;
/** How long the end of a cancelled statement is waited for. */
export const cancelMs = 10_000;
/** Least time between two reports of progress. */
export const progressMs = 500;
/** Cookies of a statement, and bytes of each. */
export const cookiesMax = 16;
export const cookieBytesMax = 4_096;
/** Longest user name that is put into a header; servers limit all headers of a request together. */
export const userBytesMax = 1_024;
/** Warnings of a statement that are passed on. */
export const warningsMax = 100;
/** Catalogs whose tables are listed, columns listed of each, and how long a listing stands. */
export const listedCatalogsMax = 50;
export const listedColumnsMax = 200_000;
export const listingMs = 30_000;
/** How long the names of the catalogs stand. Every process asks for them this often. */
export const catalogsMs = 60_000;
/** How long it stays proved that the server's list shows our statements. */
export const proofMs = 300_000;
