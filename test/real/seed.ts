/**
 * Where the statements by chance begin: always at the same place, so that a push is judged by what it changes. At
 * night anywhere; `GATEWAY_TEST_SEED` repeats what a run has printed.
 */
const first = process.env["GATEWAY_NIGHTLY"] === "1" ? Math.floor(Math.random() * 2 ** 31) : 1;

/** The seed of the first statement. */
export const seed = Number(process.env["GATEWAY_TEST_SEED"] ?? first);
